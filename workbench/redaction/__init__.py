"""The secret filter: no free text is stored before it went through here (contract redaction).

`redact(text)` for one text; `default_filter()` where the log's door wants a `Redactor`. Rules are data in
`rules/*.toml`; `engine` runs them over bytes with RE2, `tree` walks JSON values. RE2 and the rules are
loaded by the first text, not by the import.
"""

from workbench.redaction.filter import Redacted, SecretFilter, default_filter, redact

__all__ = ["Redacted", "SecretFilter", "default_filter", "redact"]
