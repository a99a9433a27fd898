"""The chat of a session: one process, whose engine depends on the project (docs/design.md, section 5)."""

from __future__ import annotations

from dataclasses import replace

from vancectl.delegation.delegation import Delegation
from vancectl.delegation.request import Request
from vancectl.inventory.project import Project
from vancectl.process.supervision import current
from vancectl.settings.settings import Settings

NAME = "chat"
SETTING = "session.defaultChatEngine"
HUB_ENGINE, PROJECT_ENGINE = "eddie", "arthur"


def chat_engine(project: Project | None, settings: Settings) -> str:
    """A hub project's is eddie; elsewhere the setting is an emergency exit, and arthur the rule."""
    if project is not None and project.hub:
        return HUB_ENGINE
    return (settings[SETTING] or "").strip() or PROJECT_ENGINE


def chat_request(
    project: Project | None, settings: Settings, message: str | None, session: str | None, *, wait: bool
) -> Request:
    """Every chat process of a session has the same name, so that there is one, and who comes second finds it."""
    return Request(NAME, message, engine=chat_engine(project, settings), session=session, wait=wait)


def free_name(delegation: Delegation, request: Request) -> None:
    """Gives a chat that has ended a name of its own, so that the next one can begin; its record and log stay."""
    record = delegation.store.find(delegation.scope(request), NAME)
    if record is not None and (record := current(record, delegation.store)).ended:
        delegation.store.rename(replace(record, name=f"{NAME}-{record.id[:6]}"))
