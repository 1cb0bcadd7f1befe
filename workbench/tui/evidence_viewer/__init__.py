"""The evidence viewer: `open_evidence` is the way in, `EvidenceViewer` the dialog."""

from workbench.tui.evidence_viewer.opening import open_evidence as open_evidence
from workbench.tui.evidence_viewer.viewer import EvidenceViewer as EvidenceViewer
