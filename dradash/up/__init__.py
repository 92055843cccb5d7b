"""`dradash up`: private servers, web and worker as one program that starts, heals and stops together.

Knows processes, folders and signals. Does not know clusters, pools or pages.
"""
