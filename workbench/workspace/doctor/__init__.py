"""`doctor`: whether a workspace is what its events say it is (contract workspace, "doctor")."""

from workbench.workspace.doctor.mending import doctor as doctor
from workbench.workspace.doctor.opening import doctor_of_refused as doctor_of_refused
from workbench.workspace.doctor.report import DoctorReport as DoctorReport
from workbench.workspace.doctor.report import Finding as Finding
from workbench.workspace.doctor.report import Severity as Severity
from workbench.workspace.doctor.report import in_zone as in_zone
from workbench.workspace.doctor.report import tally as tally
from workbench.workspace.doctor.report import unopened as unopened
