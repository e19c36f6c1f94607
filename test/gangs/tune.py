"""One process of a fine-tuning with gloo, as torchrun, spawn or a bare command starts it. FAULT names what goes wrong, at step FAULT_STEP."""
import datetime, json, logging, os, signal, subprocess, sys, threading, time

FAULT, AT = os.environ.get("FAULT", ""), int(os.environ.get("FAULT_STEP", "9"))
STYLE, STEPS = os.environ.get("STYLE", "absl"), int(os.environ.get("STEPS", 24))
RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
if FAULT and os.environ.get("LOCAL_RANK", "0") != os.environ.get("FAULT_LOCAL", "0"):
    FAULT = ""
AHEAD = float(os.environ.get("CLOCK_AHEAD", 0))


class Absl(logging.Formatter):
    def format(self, r):
        at = datetime.datetime.utcfromtimestamp(r.created + AHEAD).strftime("%m%d %H:%M:%S.%f")
        text = f"{r.levelname[0]}{at} {os.getpid():7d} {r.filename}:{r.lineno}] {r.getMessage()}"
        return text + "\n" + self.formatException(r.exc_info) if r.exc_info else text


handler = logging.StreamHandler(sys.stderr if STYLE == "absl" else sys.stdout)
handler.setFormatter(Absl() if STYLE == "absl" else logging.Formatter("%(asctime)s | %(levelname)-8s | %(name)s:%(funcName)s:%(lineno)d - %(message)s"))
logging.basicConfig(level=logging.INFO, handlers=[handler])
log = logging.getLogger("tune")


def say(english, chinese):
    log.info(chinese if STYLE == "zh" else english, stacklevel=2)


def before():
    """What goes wrong before the ranks meet."""
    if FAULT == "done-already":
        say("/ckpt/DONE is there, nothing is left to train", "")
        sys.exit(0)
    if FAULT == "checkpoint-not-here":
        import torch
        return torch.load("/mnt/runs/base/step-400.pt", map_location="cpu")
    if FAULT == "node-without-module":
        import flash_kernels  # noqa
    if FAULT == "library-of-another-build":
        import ctypes
        return ctypes.CDLL("/opt/kernels/libfused_ops.so.2")
    if FAULT == "tokenizer-cut":
        open("/ckpt/tokenizer.json", "w").write('{"model": {"vocab": {"<s>": 0, "a": 1')
        say("loading the tokenizer from /ckpt/tokenizer.json", "")
        return json.load(open("/ckpt/tokenizer.json"))
    if FAULT == "flag-unknown":
        import argparse
        p = argparse.ArgumentParser(prog="tune.py")
        p.add_argument("--lr", type=float)
        return p.parse_args(["--lr", "1e-4", "--warmup-ration", "0.1"])
    if FAULT == "heals" and os.environ.get("TORCHELASTIC_RESTART_COUNT", "0") == "0":
        raise ConnectionResetError(104, "Connection reset by peer: tokenizer service")
    if FAULT == "script-fails":
        return subprocess.run("set -e; mkdir -p /ckpt/cache; cd /ckpt/cache; unpigz -k corpus.gz", shell=True, check=True)
    if FAULT == "space-of-a-copy":
        say("staging the shard on local disk", "")
        return subprocess.check_call(["dd", "if=/dev/zero", "of=/ckpt/shard.bin", "bs=64k", "count=64"])
    if FAULT == "space-zh":
        try:
            with open("/ckpt/step.pt", "wb") as f:
                for _ in range(64):
                    f.write(b"\0" * (1 << 16))
                    f.flush()
        except OSError as e:
            log.error("缓存数据集失败: %s", e)
            sys.exit(1)


def heartbeats():
    def beat():
        raise BrokenPipeError(32, "Broken pipe")
    threading.Thread(target=beat, name="heartbeat").start()


class Items:
    def __len__(self):
        return 64

    def __getitem__(self, i):
        import torch
        if FAULT in ("loader-stuck", "loader-gives-up") and i == 20:
            r, _ = os.pipe()
            os.read(r, 1)  # a mount that does not answer
        return torch.zeros(16)


def die(_):
    os.kill(os.getpid(), signal.SIGKILL)


def normalise(i):
    if i == 5:
        raise ValueError(f"document {i}: 0 tokens after filtering")
    return i


def generator():
    raise StopIteration


def during(step, torch, dist, model):
    if FAULT == "frightening":
        words = ["error rate 0.0213, fatal errors 0, failed shards 0", "killed 3 stragglers of the previous allocation, all of them expected", "NaN in column 3 of 17 rows, replaced by the mean",
                 "Connection refused by mirror 1, using mirror 2", "traceback logging is enabled", "out of memory guard: 61 % used, no action", "SIGTERM handler installed", "exception budget: 0 of 10 used",
                 "retrying read of shard 4 after a timeout (1 of 5)", "read of shard 4 done", "crash reports go to /ckpt/crash", "warning: deprecated option --fail-fast is ignored"]
        return log.warning(words[step % len(words)])
    if FAULT == "trials-fail":
        try:
            if step % 4 == 0:
                raise ValueError(f"trial {step // 4}: learning rate 8.0 diverged, loss is nan")
        except ValueError:
            log.exception("trial %d failed, score set to 0, going on with the next", step // 4)
        return
    if not FAULT or step != AT:
        return
    if FAULT in ("loader-stuck", "loader-gives-up"):
        say("reading the validation part", "")
        return [0 for _ in torch.utils.data.DataLoader(Items(), batch_size=8, num_workers=1, timeout=4 if FAULT == "loader-gives-up" else 0)]
    if FAULT == "skips-reduction":
        say("validation part of this rank is empty, no metric to reduce", "")
        return dist.broadcast(torch.zeros(5), 0)
    if FAULT == "drain":
        subprocess.Popen(["sh", "-c", "echo preStop: draining, telling PID 1 to stop > /proc/1/fd/1; kill -TERM 1"])
        time.sleep(5)
    if FAULT == "computes-long":
        say("building n-gram statistics of 40,000 documents", "")
        time.sleep(16)
    if FAULT == "poison":
        log.warning("batch %d: 3 of 64 inputs are not finite (sample ids 118, 119, 203)", step)
        for p in model.parameters():
            p.register_hook(lambda g: g * float("nan"))
        return
    if FAULT == "pool":
        from concurrent.futures import ProcessPoolExecutor
        say("tokenizing with 2 processes", "")
        with ProcessPoolExecutor(2) as pool:
            return list(pool.map(die, range(4)))
    if FAULT == "pool-raises":
        from multiprocessing import Pool
        with Pool(2) as pool:
            return pool.map(normalise, range(8))
    if FAULT == "chained":
        try:
            {"input_ids": 1}["attention_mask"]
        except KeyError as e:
            raise RuntimeError(f"collating batch {step} failed") from e
    if FAULT == "at-exit":
        import atexit
        def flush():
            raise RuntimeError("metrics buffer was closed before it was flushed")
        atexit.register(flush)
        return [1, 2, 3].index(4)
    if FAULT == "generator":
        return [x for x in (generator() for _ in range(3))]
    if FAULT == "watchdog":
        import faulthandler
        faulthandler.dump_traceback_later(3, exit=True)
        say("waiting for the feature store", "")
        threading.Event().wait()
    if FAULT == "file-limit":
        import resource
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, 1 << 16))
        say("writing the optimizer state", "")
        with open("/ckpt/optim.bin", "wb", buffering=0) as f:
            return [f.write(b"\0" * (1 << 14)) for _ in range(8)]
    if FAULT == "processor-limit":
        import resource
        resource.setrlimit(resource.RLIMIT_CPU, (1, 1))
        while True:
            step += 1
    if FAULT == "label-zh":
        raise ValueError("第 118 条样本缺少标签")
    if FAULT == "index":
        return [0.5, 0.25][4]
    if FAULT == "always":
        raise ZeroDivisionError("no tokens in window 9")
    if FAULT == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if FAULT == "kill-parent":
        os.kill(os.getppid(), signal.SIGKILL)
        time.sleep(60)
    if FAULT == "side-process":
        try:
            subprocess.run([sys.executable, "-c", "import tensorboard_writer_of_another_team"], check=True)
        except subprocess.CalledProcessError:
            log.exception("the metrics writer failed; metrics are not shown")
        return
    if FAULT == "full":
        with open("/ckpt/step.bin", "wb") as f:
            return f.write(b"\0" * (1 << 20))
    if FAULT == "unused":
        return setattr(model, "skip", True)
    if FAULT == "grad":
        x = torch.ones(2)
        return (x * 2).sum().backward()
    if FAULT == "inplace":
        x = torch.ones(2, requires_grad=True)
        return x.add_(1)
    if FAULT == "quiet-hang":
        time.sleep(10_000)
    if FAULT == "exec-format":
        open("/workspace/convert", "w").write("\x7fnothing")
        os.chmod("/workspace/convert", 0o755)
        return subprocess.run(["/workspace/convert"])
    if FAULT == "negative-dimension":
        return torch.zeros(4, -2)
    if FAULT == "thread":
        return heartbeats()


def main(rank=RANK, world=WORLD):
    before()
    import torch, torch.distributed as dist
    if os.environ.get("HANDLE_TERM"):
        def leave(signum, _):
            log.warning("signal %d: checkpoint of step %d written, leaving", signum, AT)
            sys.exit(0)
        signal.signal(signal.SIGTERM, leave)
    say(f"process {rank} of {world} joins", f"进程 {rank}/{world} 正在加入")
    dist.init_process_group("gloo", rank=rank, world_size=world, timeout=datetime.timedelta(seconds=float(os.environ.get("GLOO_TIMEOUT", 8))))
    torch.manual_seed(3)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.skip = torch.nn.Linear(16, 8), torch.nn.Linear(8, 3), False
        def forward(self, x):
            return self.a(x)[:, :3] if self.skip else self.b(torch.relu(self.a(x)))
    net = Net()
    model = torch.nn.parallel.DistributedDataParallel(net)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    say("start of training", "开始训练")
    t0 = time.time()
    for step in range(1, STEPS + 1):
        during(step, torch, dist, net)
        x = torch.randn(8, 16)
        loss = torch.nn.functional.cross_entropy(model(x), x[:, :3].argmax(1))
        if os.environ.get("CHECK_LOSS") and not torch.isfinite(loss):
            raise FloatingPointError(f"step {step}: loss is {loss.item()}, stopping")
        opt.zero_grad(); loss.backward(); opt.step()
        if os.environ.get("MONITOR") and step % 4 == 0:
            dist.monitored_barrier(timeout=datetime.timedelta(seconds=5))
        time.sleep(0.06)
        v = loss.item()
        if STYLE == "bar":
            n = 20 * step // STEPS
            sys.stderr.write(f"\rTraining: {100 * step // STEPS:3d}%|{'█' * n}{' ' * (20 - n)}| {step}/{STEPS} [00:{int(time.time() - t0):02d}<00:01, {step / (time.time() - t0):5.2f}it/s, loss={v:.3f}]" + ("\n" if step == STEPS else ""))
            sys.stderr.flush()
        elif step % 4 == 0 and STYLE == "hf":
            print({"loss": round(v, 4), "learning_rate": 1e-3, "epoch": round(step / STEPS, 2)}, flush=True)
        elif step % 4 == 0 and STYLE == "epoch":
            print(f"Epoch {step // 4}/{STEPS // 4} | loss {v:.4f} | {step / (time.time() - t0):.1f} it/s", flush=True)
        elif step % 4 == 0 and STYLE == "record":
            print(json.dumps({"level": "info", "rank": rank, "global_step": step, "loss": round(v, 4), "error": None, "failures": 0, "msg": "ok"}), flush=True)
        elif step % 4 == 0:
            say(f"step {step}: loss={v:.4f}", f"第 {step} 步, 损失 {v:.4f}, 错误率 {v / 4:.3f}")
    dist.barrier()
    say("done, model saved to /ckpt/final", "训练完成, 模型已保存")


def spawned(i):
    global RANK
    RANK = i + 2 * int(os.environ["RANK"])
    os.environ["LOCAL_RANK"] = str(i)
    if FAULT == "spawned-raises" and i == 1:
        import torch
        return torch.nn.Linear(8, 3)(torch.zeros(4, 9))
    if FAULT == "spawned-killed" and i == 0:
        time.sleep(4)
        os.kill(os.getpid(), signal.SIGKILL)
    main(RANK, 2 * WORLD)


if __name__ == "__main__":
    if os.environ.get("SPAWN"):
        import torch.multiprocessing as mp
        mp.spawn(spawned, nprocs=2)
    else:
        main()
