"""`doctor`: whether a workspace is what its events say it is (contract workspace, "doctor")."""

from workbench.workspace.doctor.mending import doctor as doctor
from workbench.workspace.doctor.report import DoctorReport as DoctorReport
from workbench.workspace.doctor.report import Finding as Finding
from workbench.workspace.doctor.report import Severity as Severity
from workbench.workspace.doctor.report import unopened as unopened
