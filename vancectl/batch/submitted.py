"""`--via batches`: a whole run's questions go through the Message Batches API, then the run finds them answered."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vancectl.batch.run import Batch, BatchLine, Tally, read_lines
from vancectl.disk.folders import state_dir
from vancectl.errors import UsageError
from vancectl.model.model import ModelError, Reply

if TYPE_CHECKING:
    from vancectl.model.messages_api.batches import MessageBatches
    from vancectl.model.question import Question
    from vancectl.selector.semantic.stage import Semantic


def open_batches(semantic: Semantic, warn: Callable[[str], None]) -> MessageBatches:
    """Raises UsageError for a model that is not behind the Messages API."""
    from vancectl.model.messages_api.batches import MessageBatches
    from vancectl.model.messages_api.call import AnthropicModel

    if not isinstance(semantic.model, AnthropicModel):
        raise UsageError(
            "--via batches needs the Messages API, and selector.backend is `command`", remedy="leave --via out"
        )
    return MessageBatches(semantic.model, state_dir(), warn)


def collect(batches: MessageBatches, questions: Mapping[str, Question]) -> dict[str, Reply | ModelError]:
    """What came of each question; a batch that could not be run failed for all of them."""
    try:
        return batches.collect(questions)
    except ModelError as error:
        return dict.fromkeys(questions, error)


def select_via_batches(
    run: Batch, path: Path, tally: Tally, warn: Callable[[str], None], lines: list[BatchLine] | None = None
) -> None:
    """Decides every line of a file, once the whole file is read."""
    from vancectl.model.messages_api.batches import Answered, request_id

    if lines is None:
        lines = read_lines(path)
    tasks = run.model_tasks(lines)
    semantic = run.selector.semantic if tasks else None
    if semantic is None:
        run.run(path, tally, lines)
        return
    batches = open_batches(semantic, warn)
    name = semantic.model.name
    asked = [semantic.prompt.question(task, run.selector.index.hits(task)) for task in tasks]
    replies = collect(batches, {request_id(name, question): question for question in asked})
    # A reply that is no answer cannot be sent back: there is nobody to answer at once.
    answered = replace(semantic, model=Answered(name, replies), max_attempts=1)
    replace(run, selector=run.selector.asking(answered)).run(path, tally, lines)
    batches.close()
