"""MindSpore's names of devices; free of everything, for the command line."""

from typing import Literal

Target = Literal["CPU", "GPU", "Ascend"]
DeviceChoice = Literal["auto", "CPU", "GPU", "Ascend"]
