//! What the kernel says: host, devices, processes, cgroups.
