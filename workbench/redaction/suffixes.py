"""What stands behind the names of secrets: where they are valid, and their number."""

from __future__ import annotations

WHERE = (
    "prod|production|preprod|stage|staging|stg|dev|devel|development|test|testing|qa|uat|preview|sandbox|live|local|"
    "ci|demo|old|new|current|previous|prev|next|root|admin|user|app|service|primary|secondary|backup|bak|main|master|"
    "replica|default|ro|rw|readonly|internal|external|temp|tmp|confirm|confirmation|eu|us|uk|de|asia|east|west"
)
"""Where a secret is valid, as alternatives."""
_NUMBER = "[_.-]?[0-9]{1,3}"
SUFFIX = f"(?:(?:{_NUMBER})?[_.-]?(?i:{WHERE})){{0,2}}(?:{_NUMBER})?"
"""What people put behind a secret's name: where it is valid, its number; or nothing."""
