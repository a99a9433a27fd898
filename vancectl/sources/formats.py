"""The formats: which files each one has, who reads them, where they usually lie, and which preset starts them."""

from __future__ import annotations

from typing import NamedTuple

WHOLE = 1_000_000  # bytes of a file at most
HEADER = 65_536  # bytes in which a header must end


class Format(NamedTuple):
    """`files` is a pattern for the path below the source, and `read` names module and function that read one.

    `deep` says whether folders in folders are looked at. `folders` are the usual ones, below the home and nearest
    first; `key` is what their recipes' names begin with, and `program` what must be on the PATH for them to count by
    themselves. `preset` starts a recipe; empty where no program does, and its text is the prompt.
    """

    program: str
    key: str
    folders: tuple[str, ...]
    files: str
    read: str
    preset: str
    deep: bool = True
    hidden: bool = False
    whole: bool = False  # whether more than the header is read

    def takes(self, file: str) -> bool:
        """Whether a path below the source is one of its files. Case matters, as it does to the programs."""
        parts = file.split("/")
        wanted = self.files.count("/")
        if len(parts) <= wanted or (not self.deep and len(parts) > wanted + 1):
            return False
        name = self.files.rpartition("/")[2]
        return parts[-1].endswith(name[1:]) if name[0] == "*" else parts[-1] == name


FORMATS: dict[str, Format] = {
    "claude-agent": Format(
        "claude", "claude", (".claude/agents",), "*.md", "markdown.claude_agent", "claude-agent", hidden=True
    ),
    "claude-skill": Format(
        "claude", "claude-skill", (".claude/skills",), "*/SKILL.md", "skills.claude_skill", "claude-skill", deep=False
    ),
    "claude-command": Format(
        "claude", "claude-command", (".claude/commands",), "*.md", "skills.claude_command", "claude-command"
    ),
    "claude-plugin": Format(
        "claude", "claude-plugin", (".claude/plugins/marketplaces",), "*.md", "markdown.plugin_agent", "claude-plugin"
    ),
    "codex-skill": Format(
        "codex", "codex", (".agents/skills", ".codex/skills"), "*/SKILL.md", "skills.codex_skill", "codex-skill"
    ),
    "opencode-agent": Format(
        "opencode", "opencode", (".config/opencode/agent", ".config/opencode/agents"), "*.md",
        "markdown.opencode_agent", "opencode-agent",
    ),
    "opencode-skill": Format(
        "opencode", "opencode-skill", (".config/opencode/skill", ".config/opencode/skills"), "*/SKILL.md",
        "skills.opencode_skill", "opencode-skill",
    ),
    "gemini-skill": Format(
        "gemini", "gemini", (".gemini/skills",), "*/SKILL.md", "skills.gemini_skill", "gemini-skill", deep=False
    ),
    "gemini-command": Format(
        "gemini", "gemini-command", (".gemini/commands",), "*.toml", "skills.gemini_command", "gemini-command",
        whole=True,
    ),
    "copilot-agent": Format(
        "copilot", "copilot", (".copilot/agents",), "*.agent.md", "markdown.copilot_agent", ""
    ),
    "goose": Format(
        "goose", "goose", (".config/goose/recipes",), "*.yaml", "prompts.goose_recipe", "goose-recipe", deep=False,
        whole=True,
    ),
    "fabric": Format(
        "fabric", "fabric", (".config/fabric/patterns",), "*/system.md", "prompts.fabric_pattern", "fabric-pattern",
        deep=False,
    ),
    "llm-template": Format(
        "llm", "llm", (".config/io.datasette.llm/templates",), "*.yaml", "prompts.llm_template", "llm-template",
        deep=False, whole=True,
    ),
}  # fmt: skip
"""In the order in which a folder that several programs read is given to one of them."""
