"""A model that was asked before: gives recorded replies again, so that the selector decides exactly as it did live."""

from __future__ import annotations

from dataclasses import replace

from vancectl.model.model import Model, ModelError, Reply
from vancectl.model.question import Question
from vancectl.model.reason import Reason
from vancectl.recordings.fingerprint import Binding, Changes
from vancectl.recordings.recordings import Recording, Recordings, Sample

REMEDY = "`vancectl check --record` asks the model"


class Replay:
    """Answers from recordings, each only to the very question that it was given to; no network is ever touched.

    `sample` says which of several answers to the same question counts. `allow_stale` lets an answer to an older form
    of the question count as well.
    """

    backend = "replay"

    def __init__(self, recordings: Recordings, binding: Binding, *, sample: int = 0, allow_stale: bool = False) -> None:
        self.name = binding.model
        self.recordings = recordings
        self.binding = binding
        self._sample = sample
        self._allow_stale = allow_stale

    def ask(self, question: Question, deadline: float) -> Reply:
        recording = self.find(question)
        if recording is None:
            raise ModelError(Reason.NO_RECORDING, f"no answer to this task is recorded; {REMEDY}")
        changes = self.changes(question)
        if changes is not None and not self._allow_stale:
            text = f"the recorded answer is stale, since these have changed: {changes.sentence()}; {REMEDY}"
            raise ModelError(Reason.STALE_RECORDING, text)
        samples = recording.samples
        if self._sample >= len(samples):
            text = f"only {len(samples)} answers to this task are recorded; {REMEDY}"
            raise ModelError(Reason.NO_RECORDING, text)
        sample, attempt = samples[self._sample], len(question.corrections)
        if attempt >= len(sample):
            raise ModelError(Reason.NO_RECORDING, f"the recorded reply is no answer; {REMEDY}")
        return sample[attempt]

    def find(self, question: Question) -> Recording | None:
        """What is recorded for the task: the answers that hold, else those that were written last."""
        return self.recordings.find(question.task, lambda recording: self._holds(recording, question))

    def _holds(self, recording: Recording, question: Question) -> bool:
        if recording.question == self.binding.question(question):
            return True
        # Recorded with the final line end that the other lacks.
        return recording.task != question.task and recording.question == self.binding.question(
            question.worded(recording.task)
        )

    def changes(self, question: Question) -> Changes | None:
        """What has changed since the task's answer was recorded; None where nothing has that counts for it."""
        recording = self.find(question)
        if recording is None or self._holds(recording, question):
            return None
        return self.binding.changes_since(self.recordings.binding(recording))

    def recorded(self, question: Question) -> int:
        """How many answers to exactly this question there are."""
        recording = self.find(question)
        return len(recording.samples) if recording is not None and self._holds(recording, question) else 0


class Listener:
    """Passes questions on to a model, and keeps the replies of one decision."""

    def __init__(self, model: Model) -> None:
        self.backend = model.backend
        self.name = model.name
        self._model = model
        self.heard: Sample = ()

    def ask(self, question: Question, deadline: float) -> Reply:
        reply = self._model.ask(question, deadline)
        self.heard = (*self.heard, replace(reply, calls=1))
        return reply
