"""The URI of an MLflow store: which kinds there are, and how it is shown."""

from urllib.parse import urlsplit

from ..policies.errors import InputError

_SERVERS = ("http", "https")
_DATABASES = ("sqlite", "postgresql", "mysql", "mssql")


def check_uri(uri: str) -> None:
    """See that MLflow can use the URI.

    Raises:
        InputError: it is of a kind that MLflow does not take, such as a bare folder.
    """
    scheme = urlsplit(uri).scheme.partition("+")[0]
    if scheme not in (*_SERVERS, *_DATABASES):
        raise InputError(
            f"the tracking URI must be a server (http://…, https://…) or a database "
            f"(sqlite:////absolute/path.db, postgresql://…, mysql://…, mssql://…), "
            f"but got {without_password(uri)!r}"
        )


def is_server(uri: str) -> bool:
    """Whether the URI leads to an MLflow server, which decides itself where artifacts go."""
    return urlsplit(uri).scheme in _SERVERS


def without_password(uri: str) -> str:
    """The URI without a user's name and password, for people to see."""
    parts = urlsplit(uri)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl() if "@" in parts.netloc else uri
