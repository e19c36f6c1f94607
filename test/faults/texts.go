package faults

import (
	"fmt"
	"strings"
)

// texts are what programs and libraries print when something goes wrong: for each fault a
// few forms, from different versions and projects. In them {rank}, {local}, {pid}, {host},
// {peer} and {seq} are filled in. They are the printed forms of PyTorch (c10/cuda,
// ProcessGroupNCCL.cpp, torch/utils/data, torch/serialization.py), NCCL (src/transport/net_ib.cc,
// src/misc/socket.cc), gloo, CPython's and glibc's errors, Hugging Face datasets, MosaicML
// Composer, DeepSpeed and the NVIDIA driver's (https://docs.nvidia.com/deploy/xid-errors/).
var texts = map[string][]string{
	"gpu-oom": {
		trace("train.py:212 in train_step", "loss.backward()", "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.96 GiB. GPU {local} has a total capacity of 79.11 GiB of which 1.07 GiB is free. Including non-PyTorch memory, this process has 78.03 GiB memory in use. Of the allocated memory 74.20 GiB is allocated by PyTorch, and 2.81 GiB is reserved by PyTorch but unallocated."),
		trace("main.py:88 in forward", "x = self.mlp(x)", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 512.00 MiB (GPU {local}; 39.59 GiB total capacity; 37.02 GiB already allocated; 201.19 MiB free; 37.80 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb to avoid fragmentation."),
		trace("pretrain_gpt.py:301 in forward_backward", "output = attn(q, k, v)", "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU {local}; 15.78 GiB total capacity; 14.20 GiB already allocated; 18.75 MiB free; 14.35 GiB reserved in total by PyTorch)"),
		trace("trainer.py:1871 in train", "tr_loss_step = self.training_step(model, inputs)", "RuntimeError: CUDA error: out of memory"),
	},
	"loader-killed": {
		trace("dataloader.py:1133 in _try_get_data", "raise RuntimeError(f'DataLoader worker (pid(s) {pids_str}) exited unexpectedly') from e", "RuntimeError: DataLoader worker (pid {pid}) is killed by signal: Killed. "),
		trace("dataloader.py:1146 in _try_get_data", "data = self._data_queue.get(timeout=timeout)", "RuntimeError: DataLoader worker (pid(s) {pid}) exited unexpectedly"),
	},
	"shm": {
		"ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n" + trace("dataloader.py:1133 in _try_get_data", "data = self._data_queue.get(timeout=timeout)", "RuntimeError: DataLoader worker (pid {pid}) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit."),
		trace("reductions.py:302 in reduce_storage", "fd, size = storage._share_fd_cpu_()", "RuntimeError: unable to write to file </torch_{pid}_1234>: No space left on device (28)") + "\nERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
	},
	"nan": {
		"Loss is nan, stopping training",
		trace("train.py:98 in main", "raise ValueError(f'loss is {loss.item()}')", "ValueError: loss is nan at step 8123"),
		"step 8124 | loss: nan | grad_norm: nan | lr: 1.0e-05\n" + trace("grad_scaler.py:40 in step", "assert torch.isfinite(norm)", "AssertionError: found NaN in local grad norm for bucket #0 in backward pass before data-parallel communication collective. Device: {local}, node: {host}"),
	},
	"xid79": {
		trace("train.py:150 in step", "torch.cuda.synchronize()", "RuntimeError: CUDA error: unknown error") + cudaNote,
		trace("train.py:150 in step", "loss.item()", "torch.AcceleratorError: CUDA error: unspecified launch failure") + cudaNote,
	},
	"ecc": {
		trace("train.py:77 in step", "loss = model(batch)", "RuntimeError: CUDA error: uncorrectable ECC error encountered") + cudaNote,
		"train-worker:412:530 [{local}] enqueue.cc:1330 NCCL WARN Cuda failure 214 'uncorrectable ECC error encountered'\n" + trace("distributed_c10d.py:2806 in all_reduce", "work = group.allreduce([tensor], opts)", "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3384, unhandled cuda error (run with NCCL_DEBUG=INFO for details), NCCL version 2.26.2\nncclUnhandledCudaError: Call to CUDA function failed.\nLast error:\nCuda failure 214 'uncorrectable ECC error encountered'"),
	},
	"nvlink": {
		trace("tensor_parallel.py:61 in forward", "return F.linear(x, self.weight)", "RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution") + cudaNote,
		"train-worker:412:540 [{local}] transport/p2p.cc:275 NCCL WARN Cuda failure 220 'uncorrectable NVLink error detected during the execution'",
	},
	"ib-port": {
		"train-worker:97:215 [{local}] transport/net_ib.cc:104 NCCL WARN NET/IB : mlx5_{local}:1 Got async event : port error\ntrain-worker:97:230 [{local}] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer 10.44.3.17<43719> with status=12 opcode=0 len=0 vendor err 129 (Send) localGid fe80::1 remoteGids ::ffff:10.44.3.17",
		"train-worker:97:215 [{local}] transport/net_ib.cc:104 NCCL WARN NET/IB : mlx5_{local}:1 Got async event : device fatal error",
	},
	"missing-module": {
		trace("train.py:7 in <module>", "import flash_attn", "ModuleNotFoundError: No module named 'flash_attn'"),
		trace("finetune.py:19 in <module>", "from apex.optimizers import FusedAdam", "ModuleNotFoundError: No module named 'apex'"),
		"/usr/bin/python3: No module named torch.distributed.run",
	},
	"dataset-missing": {
		trace("data.py:33 in __init__", "self.index = np.memmap(path, dtype=np.uint16)", "FileNotFoundError: [Errno 2] No such file or directory: '/data/tokens/shard_00017.bin'"),
		trace("train.py:41 in build", "ds = load_from_disk(args.data)", "FileNotFoundError: Directory /mnt/datasets/c4-en is neither a `Dataset` directory nor a `DatasetDict` directory."),
	},
	"permission": {
		trace("checkpointing.py:58 in save", "os.makedirs(path, exist_ok=True)", "PermissionError: [Errno 13] Permission denied: '/checkpoints/run-17'"),
		trace("train.py:20 in main", "with open(args.log, 'a') as f:", "PermissionError: [Errno 13] Permission denied: '/logs/train.jsonl'"),
	},
	"segfault": {
		"Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f1a2b7fe740 (most recent call first):\n  File \"/usr/local/lib/python3.11/site-packages/torch/autograd/graph.py\", line 823 in _engine_run_backward\n  File \"/app/train.py\", line 210 in train_step",
		"[{host}:00412] *** Process received signal ***\n[{host}:00412] Signal: Segmentation fault (11)\n[{host}:00412] Signal code: Address not mapped (1)\n[{host}:00412] Failing at address: 0x18",
		"",
	},
	"storage": {
		trace("data.py:52 in __getitem__", "return self.mm[i:j]", "OSError: [Errno 5] Input/output error: '/lustre/data/shard_00091.bin'"),
		trace("checkpointing.py:112 in save", "torch.save(state, path)", "OSError: [Errno 116] Stale file handle: '/mnt/nfs/ckpt/step_8000/rank{rank}.pt'"),
		trace("loader.py:71 in read", "chunk = f.read(n)", "OSError: [Errno 107] Transport endpoint is not connected: '/mnt/jfs/train/part-0031.parquet'"),
	},
	"checkpoint": {
		trace("serialization.py:1326 in load", "with _open_zipfile_reader(opened_file) as opened_zipfile:", "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory"),
		trace("modeling_utils.py:531 in load_state_dict", "with safe_open(checkpoint_file, framework='pt') as f:", "safetensors_rust.SafetensorError: Error while deserializing header: MetadataIncompleteBuffer"),
		trace("serialization.py:1554 in _legacy_load", "magic_number = pickle_module.load(f, **pickle_load_args)", "EOFError: Ran out of input"),
	},
	"rendezvous": {
		trace("rendezvous.py:189 in _create_c10d_store", "return TCPStore(hostname, port, world_size, start_daemon, timeout, multi_tenant=True)", "torch.distributed.DistStoreError: Timed out after 901 seconds waiting for clients. {peer}/{world} clients joined."),
		trace("dynamic_rendezvous.py:1101 in next_rendezvous", "self._op_executor.run(join_op, deadline, self._get_deadline)", "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError"),
		trace("rendezvous.py:189 in _create_c10d_store", "return TCPStore(hostname, port, world_size, start_daemon, timeout)", "torch.distributed.DistNetworkError: The client socket has timed out after 900000ms while trying to connect to (train-master-0, 23456)."),
	},
	"port": {
		trace("rendezvous.py:189 in _create_c10d_store", "return TCPStore(hostname, port, world_size, start_daemon, timeout)", "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: 23456, useIpv6: false, code: -98, name: EADDRINUSE, message: address already in use"),
		trace("rendezvous.py:176 in _create_c10d_store", "return TCPStore(hostname, port, world_size, start_daemon, timeout)", "RuntimeError: The server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:23456 (errno: 98 - Address already in use). The server socket has failed to bind to ?UNKNOWN? (errno: 98 - Address already in use)."),
	},
	"dns": {
		"[W301 12:00:00.000000000 socket.cpp:697] [c10d] The IPv6 network addresses of (train-master-0, 23456) cannot be retrieved (gai error: -3 - Temporary failure in name resolution).\n[W301 12:00:01.000000000 socket.cpp:697] [c10d] The IPv4 network addresses of (train-master-0, 23456) cannot be retrieved (gai error: -3 - Temporary failure in name resolution).\n" + trace("rendezvous.py:189 in _create_c10d_store", "return TCPStore(hostname, port, world_size, start_daemon, timeout)", "torch.distributed.DistNetworkError: Failed to recv, got 0 bytes. Connection was likely closed. Did the remote server shutdown or crash?"),
		trace("socket.py:974 in getaddrinfo", "for res in _socket.getaddrinfo(host, port, family, type, proto, flags):", "socket.gaierror: [Errno -2] Name or service not known"),
	},
	"driver": {
		trace("__init__.py:372 in _lazy_init", "torch._C._cuda_init()", "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver by downloading and installing a new version from the URL: http://www.nvidia.com/Download/index.aspx Alternatively, go to: https://pytorch.org to install a PyTorch version that has been compiled with your version of the CUDA driver."),
		"train-worker:88:88 [{local}] init.cc:1719 NCCL WARN Cuda failure 'CUDA driver version is insufficient for CUDA runtime version'",
	},
	"disk": {
		trace("serialization.py:850 in save", "with _open_zipfile_writer(f) as opened_zipfile:", "RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 1344 vs 1238") + "\nOSError: [Errno 28] No space left on device",
		trace("arrow_writer.py:531 in write_batch", "self.pa_writer.write_table(table)", "OSError: [Errno 28] Error writing bytes to file. Detail: [errno 28] No space left on device"),
	},
	"exception": {
		trace("collate.py:24 in __call__", "labels = [b['labels'] for b in batch]", "KeyError: 'labels'"),
		trace("model.py:501 in forward", "return self.head(x[:, idx])", "IndexError: index 4096 is out of bounds for dimension 1 with size 4096"),
		trace("train.py:300 in evaluate", "return total / count", "ZeroDivisionError: division by zero"),
	},
	"illegal": {
		trace("fused.py:91 in forward", "out = kernel(x)", "RuntimeError: CUDA error: an illegal memory access was encountered") + cudaNote,
		trace("layers.py:17 in forward", "return self.op(x)", "torch.AcceleratorError: CUDA error: an illegal memory access was encountered") + cudaNote,
	},
	"assert": {
		"/pytorch/aten/src/ATen/native/cuda/Loss.cu:245: nll_loss_forward_reduce_cuda_kernel_2d: block: [0,0,0], thread: [7,0,0] Assertion `t >= 0 && t < n_classes` failed.\n" + trace("loss.py:12 in forward", "return F.cross_entropy(x, y)", "RuntimeError: CUDA error: device-side assert triggered") + cudaNote,
		"../aten/src/ATen/native/cuda/Indexing.cu:1292: indexSelectLargeIndex: block: [120,0,0], thread: [64,0,0] Assertion `srcIndex < srcSelectDimSize` failed.\n" + trace("model.py:40 in forward", "x = self.embed(ids)", "RuntimeError: CUDA error: device-side assert triggered") + cudaNote,
	},
	"nccl-init": {
		"train-worker:77:77 [{local}] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found\n" + trace("distributed_c10d.py:4159 in barrier", "work = group.barrier(opts=opts)", "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:268, internal error - please report this issue to the NCCL developers, NCCL version 2.21.5\nncclInternalError: Internal check failed."),
	},
	"weights-missing": {
		"cp: cannot stat '/models/llama/consolidated.00.pth': No such file or directory",
		"tar: /data/imagenet.tar: Cannot open: No such file or directory\ntar: Error is not recoverable: exiting now",
	},

	// What the others say.
	"lost": {
		trace("distributed_c10d.py:2806 in all_reduce", "work = group.allreduce([tensor], opts)", "torch.distributed.DistBackendError: NCCL error in: /pytorch/torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:3384, remote process exited or there was a network error, NCCL version 2.26.2\nncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\nLast error:\nsocketProgress: Connection closed by remote peer {peerhost}<43210>"),
		trace("distributed_c10d.py:1906 in all_reduce", "work = default_pg.allreduce([tensor], opts)", "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] Connection closed by peer [10.44.3.17]:51234"),
		"[rank{rank}]:[W301 12:00:00.000000000 TCPStore.cpp:125] [c10d] recvValue failed on SocketImpl(fd=52, addr=[{host}]:40710, remote=[train-master-0]:23456): Connection reset by peer\n" + trace("train.py:190 in step", "dist.all_reduce(x)", "torch.distributed.DistBackendError: [{rank}] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got error: Connection reset by peer"),
		"train-worker:97:240 [{local}] misc/socket.cc:881 NCCL WARN socketProgress: Connection closed by remote peer {peerhost}<43210>\ntrain-worker:97:240 [{local}] proxy.cc:1534 NCCL WARN [Service thread] Could not receive type from localRank {local}, res=3, closed=0\n" + trace("train.py:190 in step", "loss.backward()", "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1691, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.19.3\nncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. \nLast error:\nsocketProgress: Connection closed by remote peer {peerhost}<43210>"),
		trace("connection.py:430 in _recv", "chunk = read(handle, remaining)", "ConnectionResetError: [Errno 104] Connection reset by peer"),
	},
	"aborted": {
		"terminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG ID 0 PG GUID 0(default_pg) Rank {rank}] NCCL watchdog thread terminated with exception: [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum={seq}, OpType=ALLREDUCE, NumelIn=8388608, NumelOut=8388608, Timeout(ms)=600000) ran for 600026 milliseconds before timing out.",
		"[E301 12:00:00.000000000 ProcessGroupNCCL.cpp:577] [Rank {rank}] Some NCCL operations have failed or timed out. Due to the asynchronous nature of CUDA kernels, subsequent GPU operations might run on corrupted/incomplete data.\n[E301 12:00:00.000000000 ProcessGroupNCCL.cpp:583] [Rank {rank}] To avoid data inconsistency, we are taking the entire process down.",
	},
	"told": {
		"W0301 12:00:00.000000 412 torch/distributed/elastic/agent/server/api.py:704] Received Signals.SIGTERM death signal, shutting down workers\nW0301 12:00:00.000000 412 torch/distributed/elastic/multiprocessing/api.py:900] Sending process {pid} closing signal SIGTERM\n" + trace("api.py:711 in run", "result = self._invoke_run(role)", "torch.distributed.elastic.multiprocessing.api.SignalException: Process {pid} got signal: 15"),
		"[2026-03-01 12:00:00,000] torch.distributed.elastic.agent.server.api: [WARNING] Received 15 death signal, shutting down workers",
		"",
	},
}

const cudaNote = "\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\nFor debugging consider passing CUDA_LAUNCH_BLOCKING=1\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."

// trace is a traceback as CPython prints it, with one frame of the program's own.
func trace(frame, source, exception string) string {
	where, function, _ := strings.Cut(frame, " in ")
	file, number, _ := strings.Cut(where, ":")
	return fmt.Sprintf("Traceback (most recent call last):\n  File \"/app/main.py\", line 18, in <module>\n    main()\n  File \"/app/%s\", line %s, in %s\n    %s\n%s", file, number, function, source, exception)
}

// text is one of the forms of a fault, filled in for a rank of a pod.
func (w *world) text(name string, p *pod, rank int) string {
	forms := texts[name]
	t := forms[w.IntN(len(forms))]
	return strings.NewReplacer(
		"{rank}", fmt.Sprint(rank), "{local}", fmt.Sprint(rank%w.shape.PerPod), "{pid}", fmt.Sprint(200+w.IntN(9000)), "{host}", p.name,
		"{peerhost}", w.pick().name+".train.ml.svc.cluster.local", "{peer}", fmt.Sprint(w.shape.Pods-1), "{world}", fmt.Sprint(w.shape.Pods), "{seq}", fmt.Sprint(w.seq()),
	).Replace(t)
}

// seq is the number of the collective that everybody waits in.
func (w *world) seq() int64 { return 40*int64(w.fault.Sub(start)/w.step) + 7 }
