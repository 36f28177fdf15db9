"""How is a network trained to translate, and how does it translate?"""

import os

# Threads that wait for each other should sleep, not spin: on a machine that does other things too, spinning
# makes every small operation wait for the scheduler (20 times slower, see docs/decisions/04). Read by OpenMP when
# torch is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
