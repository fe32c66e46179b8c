"""How much data a zoo network's training step takes, and how long trainings are; free of mindspore."""

BATCH_SIZE = 256
TRIAL_STEPS = 50
FULL_STEPS = 500
