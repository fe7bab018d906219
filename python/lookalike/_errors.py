"""What goes wrong. Every exception has the sentence that the command line prints: what, where, what to do."""


class Error(Exception):
    """What all exceptions of lookalike are."""


class UsageError(Error, ValueError):
    """What was asked for makes no sense: an unknown method, a threshold above 1, options that do not go together."""


class MemoryCapError(UsageError):
    """The memory cap is too small."""


class InputTypeError(Error, TypeError):
    """A value is of a type that cannot be used."""


class InputError(Error, OSError):
    """Documents cannot be read: a file is not there, a column is missing, the format is not known."""


class TooManyRejectedError(InputError):
    """More records were rejected than `max_rejected` allows."""


class OutputError(Error, OSError):
    """Results or scratch files cannot be written."""


class DamagedError(Error):
    """A file of a job or an index is not as it was written."""


class LockedError(Error):
    """Another process works in the folder."""


class RecipeError(Error):
    """The folder holds a job or an index of another recipe."""


class InputChangedError(Error):
    """The input is not what it was when the job began."""


class FolderError(Error):
    """The folder holds something else than it should."""


class RejectedError(Error):
    """Records could not be read, and `strict` was given. The work is done: `result` has it."""

    result: object = None
