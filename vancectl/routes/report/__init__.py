"""Reports for machines, a module a format, each with `render(judged, summary, coverage, result)` that gives text."""
