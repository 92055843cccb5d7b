"""What Kubernetes' Dynamic Resource Allocation objects mean: values in, values out.

Knows slices, devices, counters, claims, taints and the arithmetic over them. Refuses to do I/O, to read a clock and to know
Django. Reading cluster data never raises: it returns what could be read, and problems in words.
"""
