"""The commented profile that a user starts from."""

from __future__ import annotations

from simsched.errors import ConfigError, Fault
from simsched.profiles.figures import identifier

_TEMPLATE = """\
# A hardware profile for simsched. The numbers are invented: replace them, then run
#   simsched profile check {name}.yaml
#
# A figure is a quantity with its unit; behind the @ stands the tag of its source, listed below.
# "unknown" says that the figure exists but is not known to you. A key that you do not need can be left out.
# GiB is 2^30 bytes and GB is 10^9 bytes. Peaks are dense (without sparsity); a multiply-add counts as 2 FLOP.

description: What this hardware is, in a few words

sources:
  # kind: measured, datasheet, derived (say from what), or illustrative
  invented: {{kind: illustrative, cite: "numbers of the template, not of any product"}}

devices:
  - name: gpu
    kind: gpu                     # gpu, cpu, npu, tpu or ideal
    model: sm_share               # sm_share: kernels hold SMs; lanes: each stream is a machine of its own
    streams: 8                    # how many in-order queues schedulers may use: your choice, not a property
    sms: 40 @invented             # "cores" for a CPU

    # What the peaks follow from, so that they can be checked. Per SM, and per clock.
    units:
      vector_lanes: 64 @invented
      matrix_units: 4 @invented
      matrix_fma: {{fp16: 128 @invented, int8: 256 @invented}}   # multiply-adds of one matrix unit
    clocks: {{vector: 1500 MHz @invented, matrix: 1500 MHz @invented}}
    peaks:
      vector: {{fp32: 7.68 TFLOP/s @invented}}                   # 40 x 64 x 2 x 1.5 GHz
      matrix: {{fp16: 61.44 TFLOP/s @invented, int8: 122.88 TOP/s @invented}}

    # The fractions of peaks and bandwidth that good kernels reach; 1 where left out.
    efficiency: {{matrix: 0.8 @invented, vector: 0.8 @invented, bandwidth: 0.85 @invented}}

    memory:
      capacity: 16 GiB @invented          # as on the box
      usable: 15 GiB @invented            # what a program gets
      bandwidth: 320 GB/s @invented       # 5 GHz x 256 bit / 8 x 2
      clock: 5000 MHz @invented
      bus: 256 bit @invented
    l2: 4 MiB @invented

    sm_limits:                    # what fits on one SM at a time
      warps: 32 @invented
      threads: 1024 @invented
      blocks: 16 @invented
      registers: 65536 @invented
      shared_memory: 64 KiB @invented
      shared_memory_block: 64 KiB @invented
    max_resident_kernels: 128 @invented
    copy_engines: 2 @invented
    launch: 2.2 us @invented      # device time that each kernel costs beside its work
    launch_in_graph: 1.1 us @invented      # the same when everything is launched as one graph
    # stream_priorities: [0, 0, 0, 0, 0, 0, 0, -1]           # lower is more urgent; all alike if left out
    # resources: {{tensor_units: 160 @invented}}   # anything else that operators may demand

# Several devices are joined by links, over switches where there are some; a CPU may say how its threads help:
#   - name: cpu
#     ...                         # kind, model, streams, cores and so on, as above
#     threads: {{per_operator: 8, law: amdahl, serial: 5 %}}
# switches: [hub]
# links:
#   - {{between: [cpu, hub], latency: 5 us @invented, bandwidth: 24 GB/s @invented}}
#   - {{between: [hub, gpu], latency: 5 us @invented, bandwidth: 24 GB/s @invented, sharing: full_duplex}}

host:
  mode: free                      # free: launches cost the host nothing; serial: one by one; graph: all at once
  launch: 5 us @invented          # host time of one launch
  graph_launch: 2.5 us @invented  # host time to launch everything as one graph
  # threads: 1                    # that launch
  # sync: 4 us @invented          # from the end of a kernel until the host knows
  # event: 1 us @invented         # from the end of a kernel until one of another stream of its device can start
"""


def new_profile_text(name: str) -> str:
    """Return the text of a new profile: every key with a comment, numbers that load and pass the checks.

    Parameters
    ----------
    name : str
        Of the file, without ``.yaml``.

    Raises
    ------
    ConfigError
        If a profile cannot be called so.
    """
    try:
        identifier(name)
    except ValueError as error:
        raise ConfigError("profile", [Fault(str(error))]) from None
    return _TEMPLATE.format(name=name)
