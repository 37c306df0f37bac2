from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tenantry.errors import InvalidQueries, Location, TemplateError, did_you_mean
from tenantry.sql import FRAGMENT_NAME, MAX_TEXT, Query

MAX_FILES = 10_000
"""Maximum number of query files in a folder."""
_MAX_BYTES = 4 * MAX_TEXT  # a character of UTF-8 is at most four bytes


class QueryFolder(Mapping[str, Query]):
    """Queries of a folder and its subfolders by name: ``folder["sales/by_day"]`` is sales/by_day.sql.

    Each file is read once. It is compiled immediately or, with ``compiled=False``, at its first use. The dialect of a
    query is the one in its header, otherwise ``dialect``, otherwise the first dialect that accepts the query. Queries
    can include each other (``{{> sales/by_day }}``). Hidden files are skipped. Let only developers write to the folder:
    with the key ``optional``, a query's header can drop conditions on the group.

    Raises InvalidQueries if there are too many files, or if files are unusable (``errors``: the error of each). Raises
    OSError if the folder or a file cannot be read.
    """

    def __init__(self, path: str | Path, dialect: str | None = None, *, compiled: bool = True) -> None:
        self.path: Path = Path(path)
        self._queries: dict[str, Query] = {}
        files = sorted(self._files())
        if len(files) > MAX_FILES:
            raise InvalidQueries(
                f"{self.path} holds {len(files)} query files; the maximum is {MAX_FILES}: use a smaller folder",
                errors=(),
            )
        self._unreadable: dict[str, TemplateError] = {}
        for file in files:
            name = file.relative_to(self.path).with_suffix("").as_posix()
            try:
                self._queries[name] = self._read(file, name, dialect)
            except TemplateError as error:
                self._unreadable[name] = error
        errors = {error.headline: error for error in self._unreadable.values()}
        for query in self._queries.values():  # only after all files are read, because queries include each other
            try:
                if compiled:
                    query.check()
                self._check_choices(query)
            except TemplateError as error:  # a broken query's error recurs in queries that include it
                errors.setdefault(error.headline, error)
        if errors:
            raise InvalidQueries("\n".join(error.message for error in errors.values()), errors=[*errors.values()])

    def __getitem__(self, name: str) -> Query:
        if name in self._unreadable:  # a query that includes a broken file raises the error of that file
            raise self._unreadable[name]
        return self._queries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._queries)

    def __len__(self) -> int:
        return len(self._queries)

    def __repr__(self) -> str:
        return f"<QueryFolder {str(self.path)!r}, {len(self)} queries>"

    def _files(self) -> Iterator[Path]:
        if not self.path.is_dir():
            raise NotADirectoryError(f"{self.path} is not a folder of query files")
        for file in self.path.rglob("*.sql"):
            if file.is_file() and not any(part.startswith(".") for part in file.relative_to(self.path).parts):
                yield file

    def _check_choices(self, query: Query) -> None:
        for name, parameter in query.definition.parameters.items():
            wanted = parameter.choices_query
            if wanted is not None and wanted not in self:
                near = did_you_mean(wanted, self) or "write a query that gives the choices"
                problem = f"params.{name} takes its choices from a missing query: {wanted}"
                raise query.definition.source.error(query.definition.header.offsets[name], problem, near.strip())

    def _read(self, file: Path, name: str, dialect: str | None) -> Query:
        if not FRAGMENT_NAME.fullmatch(name):
            problem = "the file's name is the query's name: use letters, digits, _ and -, starting with a letter"
            raise TemplateError(f"{file}: {problem}")
        return Query(read_query_text(file), name, file=str(file), dialect=dialect, fragments=self, trusted=True)


def is_within(file: Path, folder: Path) -> bool:
    """Whether ``file`` is in ``folder`` once symbolic links are resolved."""
    return file.resolve().is_relative_to(folder.resolve())


def read_query_text(file: Path) -> str:
    """Return the text of a query file. Raises TemplateError if the file is too long or not in UTF-8, and OSError if it
    cannot be read."""
    with file.open("rb") as stream:
        content = stream.read(_MAX_BYTES + 1)
    if len(content) > _MAX_BYTES:
        raise TemplateError(f"{file}: a SQL template is at most {MAX_TEXT} characters long")
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start].decode()
        at = Location(before.count("\n") + 1, len(before) - before.rfind("\n"), str(file))
        problem = "the file is not UTF-8; save it as UTF-8"
        raise TemplateError(f"{at}: {problem}", location=at, problem=problem) from None
