"""`dradash inspect`: the same answers from dumps as from a live cluster, without a database.

Reads what `kubectl get -o yaml|json` printed, folders and archives of it. A document that cannot be read is named with file and
line, and the rest is read all the same.
"""
