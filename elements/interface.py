from fem_mbs.contract import *  # noqa
from fem_mbs.contract import KERNEL, SIGNATURE, kernel  # noqa
