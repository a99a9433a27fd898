"""Reports for machines, a module a format, each with `render(judged, summary, coverage, failures)` that gives text."""
