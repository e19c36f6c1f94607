"""One rank of a small data-parallel training with gloo. FAULT names what goes wrong on this rank, at step FAULT_STEP."""
import ctypes, datetime, json, logging, os, signal, sys, time

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
FAULT, AT = os.environ.get("FAULT", ""), int(os.environ.get("FAULT_STEP", "12"))
STYLE = os.environ.get("STYLE", "log")
logging.basicConfig(level=logging.INFO, stream=sys.stdout, format=f"%(asctime)s %(levelname)s [rank{RANK}] %(name)s: %(message)s")
log = logging.getLogger("train")


def start_faults():
    if FAULT == "missing-module":
        import fused_layers  # noqa
    if FAULT == "syntax":
        open("extras.py", "w").write("def scale(x)\n    return 2 * x\n")
        import extras  # noqa
    if FAULT == "setting-missing":
        settings = json.loads('{"lr": 0.05}')
        log.info("settings %s", settings)
        return settings["warmup_steps"]
    if FAULT == "port-text":
        return int("29500;")
    if FAULT == "numpy-alias":
        import numpy as np
        return np.zeros(3, dtype=np.int)
    if FAULT == "shard-missing":
        log.info("opening the shard of rank %d", RANK)
        return open(f"/data/shard-{RANK:05d}.bin", "rb")
    if FAULT == "config-value":
        raise ValueError(f"unknown optimizer 'adamz' in run.yaml; expected one of sgd, adam, adamw")
    if FAULT == "ulimit":
        import resource
        resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
        return [open("/etc/passwd") for _ in range(64)]
    if FAULT == "checkpoint-cut":
        import torch
        torch.save({"w": torch.zeros(50000)}, "/ckpt/last.pt")
        b = open("/ckpt/last.pt", "rb").read()
        open("/ckpt/last.pt", "wb").write(b[: len(b) // 2])
        log.info("resuming from /ckpt/last.pt")
        return torch.load("/ckpt/last.pt")
    if FAULT == "checkpoint-keys":
        import torch
        log.info("resuming from /ckpt/last.pt")
        return torch.nn.Linear(4, 4).load_state_dict({"scale": torch.zeros(4)})
    if FAULT == "nothing-to-read":
        log.info("looking for shards")
        sys.exit("no training files under /data/v3")
    if FAULT == "vocabulary":
        open("vocab.txt", "wb").write(b"the\nof\n\xff\xfe\x00and\n")
        return open("vocab.txt", encoding="utf-8").read()
    if FAULT == "cache-cut":
        import pickle
        open("/ckpt/index.pkl", "wb").close()
        log.info("reading the index of rank %d", RANK)
        return pickle.load(open("/ckpt/index.pkl", "rb"))
    if FAULT == "archive-missing":
        import subprocess
        log.info("unpacking the part of rank %d", RANK)
        return subprocess.run(["tar", "-xf", f"/data/part-{RANK}.tar"], check=True)
    if FAULT == "bucket-name":
        import urllib.request
        log.info("fetching the tokenizer")
        return urllib.request.urlopen("http://artifacts.ml.svc:9000/tokenizer.json", timeout=3)
    if FAULT == "refused-token":
        import http.server, threading, urllib.request
        class Refuses(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_error(403)
            def log_message(self, *_):
                pass
        server = http.server.HTTPServer(("127.0.0.1", 8900), Refuses)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        log.info("fetching weights")
        return urllib.request.urlopen("http://127.0.0.1:8900/models/base/weights.bin")
    if FAULT == "class-renamed":
        import pickle
        log.info("reading the cache of samples")
        return pickle.loads(b"c__main__\nSampleV2\n.")
    if FAULT == "tries-thrice":
        for attempt in range(1, 4):
            try:
                return open(f"/mnt/lake/shard-{RANK}.parquet")
            except OSError as e:
                log.warning("attempt %d of 3: %s", attempt, e)
                time.sleep(0.3)
        raise RuntimeError(f"shard {RANK} could not be opened, giving up")
    if FAULT == "settings-cut":
        log.info("reading run.json")
        return json.loads('{"lr": 0.05, "steps": 30,}')
    if FAULT == "metrics-port":
        import socket
        taken = socket.socket()
        taken.bind(("0.0.0.0", 9400))
        taken.listen()
        log.info("serving metrics on port 9400")
        return socket.create_server(("0.0.0.0", 9400))
    if FAULT == "shards-unset":
        return int(os.environ["SHARDS_PER_NODE"])
    if FAULT == "name-gone":
        from email.utils import cached_download  # noqa
    if FAULT == "page-for-a-checkpoint":
        import torch
        open("/ckpt/last.pt", "w").write("<html><body>Sign in to go on</body></html>")
        log.info("resuming from /ckpt/last.pt")
        return torch.load("/ckpt/last.pt")
    if FAULT == "service-away":
        import urllib.request
        log.info("registering the run")
        return urllib.request.urlopen("http://127.0.0.1:5000/api/runs", timeout=3)
    if FAULT == "no-parameters":
        import torch
        return torch.optim.SGD([], lr=0.1)
    if FAULT == "no-cuda":
        import torch
        log.info("moving the model to the device")
        return torch.nn.Linear(4, 4).to("cuda")


def step_fault(step, torch):
    if not FAULT or step != AT:
        return
    if FAULT == "index":
        weights = [0.1] * 7
        return weights[7]
    if FAULT == "key":
        return {"positive": 0, "negative": 1}["mixed"]
    if FAULT == "none":
        sample = None
        return sample.shape
    if FAULT == "nan":
        loss = float("nan")
        assert loss == loss, f"loss is not finite at step {step}: {loss}"
    if FAULT == "shape":
        return torch.zeros(16, 8) @ torch.zeros(9, 4)
    if FAULT == "dtype":
        return torch.nn.functional.cross_entropy(torch.zeros(4, 3), torch.zeros(4, dtype=torch.int32))
    if FAULT == "embedding":
        return torch.nn.Embedding(100, 8)(torch.tensor([101]))
    if FAULT == "target":
        return torch.nn.functional.cross_entropy(torch.zeros(4, 3), torch.tensor([0, 1, 2, 3]))
    if FAULT == "zero":
        tokens = 0
        return 4.2 / tokens
    if FAULT == "record-cut":
        return json.loads('{"text": "the last recor')
    if FAULT == "cholesky":
        return torch.linalg.cholesky(-torch.eye(3))
    if FAULT == "backward-twice":
        x = torch.ones(2, requires_grad=True)
        y = (x * x).sum()
        y.backward()
        return y.backward()
    if FAULT == "not-allowed":
        os.makedirs("/ckpt/private", mode=0o700, exist_ok=True)
        os.setuid(65534)
        log.info("saving checkpoint")
        return open("/ckpt/private/step.pt", "wb")
    if FAULT == "bus":
        import mmap
        f = open("/ckpt/table.bin", "wb+")
        f.truncate(1 << 16)
        m = mmap.mmap(f.fileno(), 1 << 16)
        f.truncate(0)
        return m[1 << 15]
    if FAULT == "closed-file":
        with open(__file__) as f:
            pass
        return f.read()
    if FAULT == "view":
        return torch.zeros(4, 6).t().view(24)
    if FAULT == "short-batch":
        batch = [0] * 3
        assert len(batch) == 8, f"batch has {len(batch)} samples, 8 were asked for"
    if FAULT == "terminate":
        ctypes.CDLL("libstdc++.so.6")._ZSt9terminatev()
    if FAULT == "deadlock":
        import threading
        lock = threading.Lock()
        lock.acquire()
        lock.acquire()
    if FAULT == "leave-silently":
        os._exit(0)
    if FAULT == "segfault":
        ctypes.string_at(0)
    if FAULT == "abort":
        os.abort()
    if FAULT == "memory":
        hoard = []
        while True:
            hoard.append(bytearray(b"x" * (8 << 20)))
            log.info("cached %d MiB of documents", 8 * len(hoard))
    if FAULT == "array":
        import numpy as np
        return np.ones((1 << 20, 1 << 20))
    if FAULT == "disk":
        log.info("saving checkpoint")
        with open("/ckpt/step.pt", "wb") as f:
            for _ in range(64):
                f.write(b"\0" * (1 << 16))
                f.flush()
    if FAULT == "torch-disk":
        log.info("saving checkpoint")
        torch.save({"w": torch.zeros(1 << 20)}, "/ckpt/step.pt")
    if FAULT == "read-only":
        log.info("saving metrics")
        return open("/ro/metrics.json", "w")
    if FAULT == "eio":
        return open("/proc/self/mem", "rb").read(16)
    if FAULT == "hang":
        log.info("waiting for data")
        time.sleep(10_000)
    if FAULT == "leave":
        log.info("no more data, leaving")
        sys.exit(0)
    if FAULT == "exit-3":
        os._exit(3)
    if FAULT == "recursion":
        def walk(n):
            return walk(n + 1)
        return walk(0)
    if FAULT == "extra-collective":
        import torch.distributed as dist
        log.info("evaluating on rank %d", RANK)
        dist.all_reduce(torch.zeros(7))
    if FAULT in ("loader", "loader-kill", "shm"):
        class Items(torch.utils.data.Dataset):
            def __len__(self):
                return 64
            def __getitem__(self, i):
                if FAULT == "loader" and i == 9:
                    raise ValueError("record 9: no text field")
                if FAULT == "loader-kill" and i == 9:
                    os.kill(os.getpid(), signal.SIGKILL)
                return torch.zeros(200_000)
        for _ in torch.utils.data.DataLoader(Items(), batch_size=8, num_workers=2):
            pass
    if FAULT == "prefetch-thread":
        import queue, threading
        ready = queue.Queue()
        def prefetch():
            ready.put({"tokens": []}["token_ids"])
        threading.Thread(target=prefetch, name="prefetch").start()
        return ready.get()
    if FAULT == "logged-and-left":
        try:
            {"train": 1}["valid"]
        except KeyError:
            log.exception("evaluation failed")
            sys.exit(1)
    if FAULT == "slow-save":
        log.info("saving checkpoint to /ckpt/step.pt")
        time.sleep(14)
        log.info("saved checkpoint")
    if FAULT == "array-on-disk":
        import numpy as np
        log.info("writing embeddings")
        np.save("/ckpt/embeddings.npy", np.zeros(1 << 17))
    if FAULT == "double-free":
        libc = ctypes.CDLL("libc.so.6")
        libc.malloc.restype = ctypes.c_void_p
        block = ctypes.c_void_p(libc.malloc(64))
        libc.free(block)
        libc.free(block)
    if FAULT == "gradient-nan":
        x = torch.zeros(3, requires_grad=True)
        with torch.autograd.detect_anomaly():
            (torch.sqrt(x) * 0).sum().backward()
    if FAULT == "recovers":
        for attempt in range(1, 3):
            try:
                open("/mnt/lake/extra.parquet")
            except OSError:
                log.exception("attempt %d to read the extra shard failed", attempt)
        log.info("reading from the replica instead")
    if FAULT == "caught":
        try:
            open("/data/extra-vocabulary.txt")
        except OSError:
            log.exception("no extra vocabulary; going on without it")
    if FAULT == "slow":
        time.sleep(3)


def on_term(signum, _):
    log.warning("received signal %d, saving and leaving", signum)
    sys.exit(128 + signum)


def main():
    if os.environ.get("HANDLE_TERM"):
        signal.signal(signal.SIGTERM, on_term)
    batch = int(os.environ.get("GLOBAL_BATCH", 8 * WORLD))
    assert batch % WORLD == 0, f"global batch {batch} is not divisible by the world size {WORLD}"
    start_faults()
    import torch, torch.distributed as dist
    log.info("joining as rank %d of %d", RANK, WORLD)
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=float(os.environ.get("GLOO_TIMEOUT", 8))))
    width = 12 if FAULT == "wider-model" else 8
    torch.manual_seed(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(16, width), torch.nn.ReLU(), torch.nn.Linear(width, 3)))
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    log.info("model has %d parameters", sum(p.numel() for p in model.parameters()))
    steps = int(os.environ.get("STEPS", 30))
    t0 = time.time()
    for step in range(1, steps + 1):
        step_fault(step, torch)
        x = torch.randn(8, 16)
        y = x[:, :3].argmax(1)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        opt.zero_grad(); loss.backward(); opt.step()
        time.sleep(0.05)
        if step % 5 == 0:
            if STYLE == "json":
                print(json.dumps({"rank": RANK, "step": step, "loss": round(loss.item(), 4), "elapsed": round(time.time() - t0, 2)}), flush=True)
            elif STYLE == "bare":
                print(f"s:{step} trl:{loss.item():.2f} {step / (time.time() - t0):.1f}it/s", flush=True)
            else:
                log.info("step %d/%d loss %.4f", step, steps, loss.item())
    dist.barrier()
    log.info("training finished after %d steps", steps)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
