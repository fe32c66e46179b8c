"""Times the kernels of the current device, each alone, and makes a row of the device table of them."""
