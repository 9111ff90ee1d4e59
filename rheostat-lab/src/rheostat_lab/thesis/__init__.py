"""The thesis' comparison (Koper 2022), repeated: policies, plant and closed loop."""
