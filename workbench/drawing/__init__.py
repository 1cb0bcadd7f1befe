"""Untrusted text and figures made fit for a terminal: shared by all faces."""

from workbench.drawing.capitals import capital as capital
from workbench.drawing.figures import age as age
from workbench.drawing.figures import ago as ago
from workbench.drawing.figures import counted as counted
from workbench.drawing.figures import exact as exact
from workbench.drawing.figures import exact_utc as exact_utc
from workbench.drawing.figures import number as number
from workbench.drawing.figures import size as size
from workbench.drawing.figures import tokens as tokens
from workbench.drawing.prose_words import plain_prose as plain_prose
from workbench.drawing.text import fit as fit
from workbench.drawing.text import one_line as one_line
from workbench.drawing.text import plain_lines as plain_lines
from workbench.drawing.text import split_lines as split_lines
from workbench.drawing.text import visible as visible
from workbench.drawing.text import wrap as wrap
