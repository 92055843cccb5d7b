"""A simulated cluster: the part of the Kubernetes API that DRA-Dash uses, over HTTP, with devices that live.

It answers as a real API server was seen to answer, not as it would be convenient. It imports nothing of the product; of
`dra` only quantities, parsing and the arithmetic of pool status answers.
"""
