"""What `project.yaml` may hold: the one declaration. It is short on purpose (docs/design.md, section 3)."""

from __future__ import annotations

from typing import Annotated, ClassVar

from pydantic import Field

from vancectl.reading.reader import EACH
from vancectl.reading.shape import Flag, Shape, Text


class ProjectShape(Shape):
    """A project: its name, and whose tenant it is. A field that is wrong spoils no other."""

    hint: ClassVar[str] = "; a project has no settings"

    id: Annotated[Text, EACH] = Field(None, description="The project's id; else it is the folder that holds `.vance`.")
    tenant: Annotated[Text, EACH] = Field(None, description="The tenant, where neither option nor variable names one.")
    hub: Annotated[Flag, EACH] = Field(None, description="True for a hub project, whose chats have another engine.")
