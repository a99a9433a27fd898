"""The Messages API: the only importer of anthropic."""
