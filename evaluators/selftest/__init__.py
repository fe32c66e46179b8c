"""What a person with a device can find out about it in a few minutes, for those who have none."""
