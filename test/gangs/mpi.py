"""One rank of a ring of sums over MPI. FAULT names what goes wrong on rank FAULT_RANK, at iteration FAULT_STEP."""
import ctypes, os, signal, sys, time
from mpi4py import MPI

comm = MPI.COMM_WORLD
fault, at, who = os.environ.get("FAULT", ""), int(os.environ.get("FAULT_STEP", "12")), int(os.environ.get("FAULT_RANK", "-1"))
print(f"rank {comm.rank} of {comm.size} on {os.uname().nodename}", flush=True)
total = 0.0
for i in range(1, 31):
    if comm.rank == who and i == at:
        if fault == "raise":
            raise ValueError(f"partition {comm.rank} holds no rows")
        if fault == "segfault":
            ctypes.string_at(0)
        if fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if fault == "abort":
            print("ERROR: unexpected record type 7", file=sys.stderr, flush=True)
            comm.Abort(3)
        if fault == "truncate":
            import numpy as np
            comm.Isend(np.zeros(8), dest=comm.rank, tag=9)
            comm.Recv(np.zeros(2), source=comm.rank, tag=9)
        if fault == "divide":
            raise ZeroDivisionError(f"rank {comm.rank}: no samples in bin 3")
        if fault == "missing":
            open("/data/cells-%03d.h5" % comm.rank)
        if fault == "assertion":
            ctypes.CDLL("libc.so.6").abort()
        if fault == "array":
            import numpy as np
            np.ones((1 << 20, 1 << 20))
        if fault == "term":
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(5)
        if fault == "leave":
            sys.exit(1)
    total = comm.allreduce(float(comm.rank + i))
    if comm.rank == 0 and i % 5 == 0:
        print(f"iteration {i} residual {1 / i:.5f} sum {total}", flush=True)
    time.sleep(0.05)
if comm.rank == 0:
    print("converged after 30 iterations", flush=True)
