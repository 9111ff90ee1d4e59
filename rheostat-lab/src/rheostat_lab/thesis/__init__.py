"""The thesis' comparison (Koper 2022), repeated: its policies, its plant and its closed loop, each
validated separately.
"""
