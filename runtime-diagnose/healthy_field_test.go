package diagnose_test

import (
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// scary are snippets of runs that were well: each stands between two steps of training.
// They are what programs print when they retry, warn, count or merely speak of errors.
var scary = []string{
	// torch, torchrun
	"[W1011 10:00:01.811 socket.cpp:755] [c10d] The client socket has failed to connect to [train-master-0]:29500 (errno: 111 - Connection refused).\n[I1011 10:00:03.001 socket.cpp:880] [c10d - debug] The client socket has connected to [train-master-0]:29500 on [::ffff:10.0.0.3]:41122.",
	"[W1011 10:00:01.111 ProcessGroupNCCL.cpp:4115] [PG ID 0 PG GUID 0 Rank 0]  using GPU 0 to perform barrier as devices used by this process are currently unknown. This can potentially cause a hang if this rank to GPU mapping is incorrect.",
	"[W1011 10:00:01.111 Utils.hpp:136] Warning: Environment variable NCCL_ASYNC_ERROR_HANDLING is deprecated; use TORCH_NCCL_ASYNC_ERROR_HANDLING instead (function operator())",
	"[W reducer.cpp:1300] Warning: find_unused_parameters=True was specified in DDP constructor, but did not find any unused parameters in the forward pass. This flag results in an extra traversal of the autograd graph every iteration, which can adversely affect performance.",
	"[rank0]:[W1011 10:00:01.111 ProcessGroupNCCL.cpp:1250] Warning: WARNING: process group has NOT been destroyed before we destruct ProcessGroupNCCL. On normal program exit, the application should call destroy_process_group to ensure that any pending NCCL operations have finished in this process.",
	"/usr/lib/python3.10/multiprocessing/resource_tracker.py:224: UserWarning: resource_tracker: There appear to be 1 leaked semaphore objects to clean up at shutdown",
	"UserWarning: This DataLoader will create 16 worker processes in total. Our suggested max number of worker in current system is 8, which is smaller than what this DataLoader is going to create. Please be aware that excessive worker creation might get DataLoader running slow or even freeze, lower the worker number to avoid potential slowness/freeze if necessary.",
	"W0101 10:00:00.000000 12 torch/_dynamo/convert_frame.py:906] torch._dynamo hit config.cache_size_limit (8)\nW0101 last reason: 0/0: tensor 'L['x']' size mismatch at index 0. expected 32, actual 31",
	"torch._dynamo.exc.Unsupported was suppressed; WON'T CONVERT forward, falling back to eager",
	// mixed precision
	"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 32768.0",
	"[2024-03-01 10:10:01,101] [INFO] [loss_scaler.py:190:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 4294967296, reducing to 2147483648",
	"iteration 10/100 | lm loss: 9.1E+00 | loss scale: 2147483648.0 | grad norm: 0.000 | number of skipped iterations:   1 | number of nan iterations:   0 |",
	"[2024-03-01 10:10:01,101] [WARNING] [stage3.py:2114:step] 2 pytorch allocator cache flushes since last step. this happens when there is high memory pressure and is detrimental to performance.",
	// NCCL
	"w-0:91:91 [0] NCCL INFO NET/Plugin: Failed to find ncclNetPlugin_v8 symbol.\nw-0:91:91 [0] NCCL INFO NET/Plugin: Loaded net plugin AWS Libfabric (v7)",
	"w-0:91:140 [0] NCCL INFO NET/IB : No device found.\nw-0:91:140 [0] NCCL INFO NET/Socket : Using [0]eth0:10.0.0.5<0>",
	"w-0:91:140 [0] NCCL INFO Could not enable P2P between dev 0(=1b000) and dev 1(=3d000)",
	"g1064:11143:11143 [0] init.cpp:120 NCCL WARN Missing \"amd_iommu=on\" from kernel command line which can lead to system instablity or hang!",
	"w-0:91:140 [0] NCCL INFO misc/socket.cc:749 retrying connect to 10.0.0.4<44211> (1/34): Connection refused",
	"w-0:91:140 [0] NCCL INFO TUNER/Plugin: Could not find: libnccl-tuner.so. Using internal tuner plugin.",
	"w-0:91:140 [0] NCCL INFO cudaDriverVersion 12040\nw-0:91:140 [0] NCCL INFO NCCL_IB_TIMEOUT set by environment to 22.",
	"libibverbs: Warning: couldn't open config directory '/etc/libibverbs.d'.",
	"[1709647283.643420] [node:23489:f]        vfs_fuse.c:281  UCX  ERROR inotify_add_watch(/tmp) failed: No space left on device",
	// storage and network that recovered
	"WARNING urllib3.connectionpool: Retrying (Retry(total=2, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ReadTimeoutError(\"HTTPSConnectionPool(host='api.wandb.ai', port=443): Read timed out.\")': /graphql",
	"wandb: Network error (ConnectionError), entering retry loop.\nwandb: Network error resolved after 0:00:11.211331, resuming normal operation.",
	"'(MaxRetryError(\"HTTPSConnectionPool(host='huggingface.co', port=443): Max retries exceeded\"))' thrown while requesting HEAD https://huggingface.co/gpt2/resolve/main/config.json\nRetrying in 1s [Retry 1/5].",
	"checkpoint: save attempt 1 failed: [Errno 5] Input/output error; retrying in 10 s\ncheckpoint: save attempt 2 succeeded: /ckpt/step_400",
	"WARNING:botocore: SlowDown on PutObject, attempt 2 of 10; will retry\nupload of step_400 complete",
	"nfs: server 10.0.0.9 not responding, still trying\nnfs: server 10.0.0.9 OK",
	// libraries
	"W0000 00:00:1700000000.111 112 gpu_device.cc:2344] Cannot dlopen some GPU libraries. Please make sure the missing libraries mentioned above are installed properly if you would like to use GPU.",
	"I0000 cuda_executor.cc:1015] successful NUMA node read from SysFS had negative value (-1), but there must be at least one NUMA node, so returning NUMA node zero.",
	"INFO: Unable to initialize backend 'tpu': INTERNAL: Failed to open libtpu.so: libtpu.so: cannot open shared object file: No such file or directory",
	"[WARNING]  async_io requires the dev libaio .so object and headers but these were not found.\n[WARNING]  sparse_attn requires a torch version >= 1.5 and < 2.0 but detected 2.4",
	"Token indices sequence length is longer than the specified maximum sequence length for this model (1211 > 1024). Running this sequence through the model will result in indexing errors",
	"huggingface/tokenizers: The current process just got forked, after parallelism has already been used. Disabling parallelism to avoid deadlocks...",
	"FutureWarning: `evaluation_strategy` is deprecated and will be removed in version 4.46; passing it will raise TypeError: unexpected keyword argument",
	"DeprecationWarning: invalid escape sequence '\\d'",
	"--------------------------------------------------------------------------\nWARNING: There was an error initializing an OpenFabrics device.\n\n  Local host:   worker-0\n  Local device: mlx5_0\n--------------------------------------------------------------------------",
	"mpirun: Warning: A process has executed an operation involving a call to the fork() system call to create a child process.",
	"Warning: Permanently added 'bert-worker-0.bert' (ED25519) to the list of known hosts.",
	"RequestsDependencyWarning: urllib3 (2.2.1) or chardet (5.2.0) doesn't match a supported version!",
	"xformers: WARNING[XFORMERS]: xFormers can't load C++/CUDA extensions. xFormers was built for: PyTorch 2.3.0+cu121",
	"(raylet) [2025-01-01 00:00:00,000 W] metric export failed: rpc error: code 14, Failed to connect to agent; retrying",
	"Skipping corrupted sample 118822 (UnidentifiedImageError), 3 skipped so far",
	// launchers and operators that wait for others
	"ssh: connect to host bert-worker-0.bert port 22: Connection refused\nretrying ssh to bert-worker-0 in 5 s (3/60)",
	"INFO: waiting for train-worker-1 to resolve: Name or service not known, trying again\nINFO: train-worker-1 resolved",
	"W0101 00:00:00 dist.py:11] rendezvous: 3 of 4 nodes joined, waiting (timeout 900 s)",
	"[2024-01-01 10:00:00,000] torch.distributed.run: [WARNING] *****************************************\n[2024-01-01 10:00:00,000] torch.distributed.run: [WARNING] Setting OMP_NUM_THREADS environment variable for each process to be 1 in default",
	// numbers that look like trouble
	"validation: 137 samples failed the length filter, exit criteria not met yet",
	"loss=2.31 nan_steps=0 inf_grads=0 skipped=0 killed_workers=0 oom_events=0",
	"GPU memory: allocated 71.20 GiB, reserved 76.79 GiB, free 2.31 GiB; num_ooms: 0, num_alloc_retries: 3",
	"nvidia-smi: ECC Errors: Volatile Uncorr. 0, Aggregate Uncorr. 0; Xid errors: none",
	"Signal handlers: SIGTERM -> checkpoint, SIGUSR1 -> requeue; requeue on exit code 137: false",
	"ib0: port error counters: SymbolErrorCounter 0, LinkDownedCounter 0",
	// caught on purpose
	"auto batch size: CUDA out of memory at batch 64, trying again with 32\nauto batch size: 32 fits",
	"dataset: file shard-0013.tar: tarfile.ReadError: unexpected end of data; skipping shard",
	"WARNING:root:Could not connect to MLflow (ConnectionError: Max retries exceeded with url: /api), falling back to local files",
	"cache: PermissionError: [Errno 13] Permission denied: '/root/.cache'; falling back to /tmp/cache",
	"WARNING: torch.compile failed (BackendCompilerFailed), falling back to eager",
	"WARNING: module 'apex' not found (No module named 'apex'), using the native optimizer",
	"[WARNING] flash-attn is not installed: ImportError: No module named 'flash_attn'. Using sdpa.",
	"INFO:tensorflow:Error reported to Coordinator is ignored: end of sequence",
	"2024-01-01 00:00:00.000: W tensorflow/core/data/root_dataset.cc:163] Optimization loop failed: CANCELLED: Operation was cancelled",
	"2024-01-01 00:00:00.000: I tensorflow/core/framework/local_rendezvous.cc:405] Local rendezvous is aborting with status: OUT_OF_RANGE: End of sequence",
	"2024-01-01 00:00:00.000: W external/xla/xla/tsl/framework/bfc_allocator.cc:368] Garbage collection: deallocate free memory regions (i.e., allocations) so that we can re-allocate a larger region to avoid OOM due to memory fragmentation.",
	"2024-01-01 00:00:00.000: W tensorflow/core/common_runtime/bfc_allocator.cc:290] Allocator (GPU_0_bfc) ran out of memory trying to allocate 2.25GiB with freed_by_count=0. The caller indicates that this is not a failure, but this may mean that there could be performance gains if more memory were available.",
	"[rank1]:[W101 10:00:01.811 CUDAAllocatorConfig.h:28] Warning: expandable_segments not supported on this platform (function operator())",
	"E0101 00:00:00.000000 112 cuda_dnn.cc:8310] Unable to register cuDNN factory: Attempting to register factory for plugin cuDNN when one has already been registered",
	"(raylet) WARNING: 4 PYTHON worker processes have been started on node: 1 with address: 10.0.0.1. This could be a result of using a large number of actors.",
	"(pid=112) [2025-01-01 00:00:00,000 W 1 1] core_worker: Failed to push metrics, will retry",
	"w-0:91:140 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\nw-0:91:140 [0] NCCL INFO comm 0x1 rank 0 nranks 8 - Destroy COMPLETE",
	"w-0:91:140 [0] NCCL INFO NET/IB : Got async event : LID change",
	"[Gloo] Rank 0 is connected to 7 peer ranks. Expected number of connected peer ranks is : 7",
	"[W1011 10:00:01.811 TCPStore.cpp:115] [c10d] recvVector failed on SocketImpl(fd=4, addr=[localhost]:41122, remote=[localhost]:29500): Connection was closed",
	// words only
	"eval/word_error_rate: 0.081 | eval/exact_match_error: 0.2 | timeout_rate: 0.0 | oom_count: 0 | killed: 0",
	"test_permission_denied_is_reported PASSED; test_out_of_memory_handler PASSED; test_segfault_guard PASSED",
	"args: Namespace(nccl_timeout=1800, ignore_errors=False, on_error='abort', max_restarts=3, fail_fast=True)",
	"{\"config\": {\"error_handling\": \"raise\", \"oom_retry\": true, \"nan_check\": \"off\", \"preempt_signal\": \"SIGTERM\"}}",
	"watchdog: heartbeat ok, 0 missed; last collective completed 3 ms ago",
	"signal handler installed for SIGTERM, SIGINT; fault handler enabled (segmentation fault, abort)",
	"nan_to_num applied to 0 elements; inf_count=0; loss_nan_guard=on",
	"disk usage of /ckpt: 71 %; 0 quota warnings; no space issues found",
	"dmesg: NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.127.05",
	"[ 12.1] mlx5_core 0000:9a:00.0: Port module event: module 0, Cable plugged\n[ 13.2] mlx5_core 0000:9a:00.0 ens9f0np0: Link up",

	// read in public threads whose runs were not hurt by them, or that failed for another reason:
	// Dao-AILab/flash-attention#813 NVIDIA/nccl-tests#252 NVIDIA/nccl#1232 NVIDIA/nccl#952 NVIDIA/pyxis#107
	// RVC-Project/Retrieval-based-Voice-Conversion-WebUI#1820 acids-ircam/RAVE#196 alibaba/Megatron-LLaMA#10
	// dbolya/yolact#359 eosphoros-ai/DB-GPT-Hub#298 facebookresearch/fairseq#515
	// fudan-generative-vision/hallo#152 hiyouga/LlamaFactory#4358 hiyouga/LlamaFactory#527 horovod/horovod#1421
	// instructlab/instructlab#2542 jax-ml/jax#22995 lavis-nlp/jerex#19 meta-pytorch/torchtune#2676
	// modelscope/FunASR#1518 pmodels/mpich#5835 pytorch/pytorch#107021 roboflow/rf-detr#909 rwth-i6/returnn#323
	// tensorflow/datasets#5608 tensorflow/tensorflow#33531 tensorflow/tensorflow#35878
	// tensorflow/tensorflow#37643 verl-project/verl#48 vllm-project/vllm#16749 vllm-project/vllm#8933
	// xorbitsai/inference#4926 ymcui/Chinese-LLaMA-Alpaca-2#274 ymcui/Chinese-LLaMA-Alpaca#534
	"[2024-03-20 11:52:34,002][torch.distributed.distributed_c10d][INFO] - Added key: store_based_barrier_key:1 to store for rank: 3",
	"result.py:433: It is recommended to use `self.log('train/class_error', ..., sync_dist=True)` when logging on epoch level in distributed setting to accumulate the metric across devices.",
	"INFO:torch.nn.parallel.distributed:Reducer buckets have been rebuilt in this iteration.",
	"Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded, please further tune the variable for optimal performance in your application as needed.",
	"master_addr is only used for static rdzv_backend and when rdzv_endpoint is not specified.",
	"WARNING:torch.distributed.launcher.api:config has no run_id, generated a random run_id: 304504801270300669882724678499925037384",
	"Some weights of JointMultiInstanceModel were not initialized from the model checkpoint at bert-base-cased and are newly initialized: ['classifier.bias', 'classifier.weight']",
	"FutureWarning: `resume_download` is deprecated and will be removed in version 1.0.0. Downloads always resume when possible. If you want to force a new download, use `force_download=True`.",
	"Special tokens have been added in the vocabulary, make sure the associated word embeddings are fine-tuned or trained.",
	"[rank0]:[W520 00:55:14.796578616 ProcessGroupNCCL.cpp:1553] Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources. (function operator())",
	"multiprocessing/resource_tracker.py:224: UserWarning: resource_tracker: There appear to be 1 leaked shared_memory objects to clean up at shutdown",
	"W tensorflow/core/grappler/optimizers/data/auto_shard.cc:428] In AUTO-mode, and switching to DATA-based sharding, instead of FILE-based sharding as we cannot find appropriate reader dataset op(s) to shard. Error: Found an unshardable source dataset: name: \"TensorDataset/_1\"",
	"Ignoring multi-device function optimization failure: Invalid argument: The graph couldn't be sorted in topological order.",
	"WARNING:tensorflow:ModelCheckpoint callback is not provided. Workers will need to restart training if any fails.",
	"W tensorflow/core/framework/cpu_allocator_impl.cc:81] Allocation of 780573800 exceeds 10% of system memory.",
	"2020-12-15 10:00:00.1: W tensorflow/core/common_runtime/bfc_allocator.cc:245] Allocator (GPU_0_bfc) ran out of memory trying to allocate 1.10GiB with freed_by_count=0. The caller indicates that this is not a failure, but may mean that there could be performance gains if more memory were available.",
	"JAX detected proxy variable(s) in the environment as distributed setup: no_proxy https_proxy. On some systems, this may cause a hang of distributed.initialize and you may need to unset these ENV variable(s)",
	"w:920:1145 [1] NCCL INFO NET/IB : No device found.",
	"w:919:1150 [0] NCCL INFO NET/Plugin : No plugin found (libnccl-net.so), using internal implementation",
	"w:25146:25852 [0] NCCL INFO [Service thread] Connection closed by localRank 0",
	"w:22555:22555 [0] NCCL INFO threadThresholds 8/8/64 | 32/8/64 | 512 | 512",
	"[W503 01:52:07.597517393 socket.cpp:204] [c10d] The hostname of the client socket cannot be retrieved. err=-3",
	"WARNING: could not find the metadata file /ckpt/latest_checkpointed_iteration.txt, will not load any checkpoints and will start from random",
	"UserWarning: torch.distributed._all_gather_base is a private function and will be deprecated. Please use torch.distributed.all_gather_into_tensor instead.",
	"wandb: W&B syncing is set to `offline` in this directory.\nwandb: Run `wandb online` or set WANDB_MODE=online to enable cloud syncing.",
	"| WARNING: overflow detected, setting loss scale to: 0.0625",
	"Gradient overflow.  Skipping step, loss scaler 0 reducing loss scale to 1.52587890625e-05",
	"[2023-06-07 22:16:00,018] [INFO] [loss_scaler.py:181:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 64, reducing to 32",
	"New maximum RSS usage: 4.5 GB",
	"[1,1]<stderr>:WARNING:tensorflow:From utils/logger.py:7: The name tf.summary.FileWriter is deprecated. Please use tf.compat.v1.summary.FileWriter instead.",
	"UserWarning: This DataLoader will create 8 worker processes in total. Our suggested max number of worker in current system is 2, which is smaller than what this DataLoader is going to create. Please be aware that excessive worker creation might get DataLoader running slow or even freeze",
	"WARNING:2024-12-13 19:04:43,105:Retrying (Retry(total=2, connect=None, read=None, redirect=None, status=None)) after connection broken by 'ConnectTimeoutError(<urllib3.connection.HTTPSConnection object at 0x7fa9b47>, 'Connection to pypi timed out')'",
	"E0000 00:00:1772366401.250000 112 cuda_blas.cc:1418] Unable to register cuBLAS factory: Attempting to register factory for plugin cuBLAS when one has already been registered",
	"dcgm: 0 XID errors, 0 uncorrectable ECC errors, 0 NVLink CRC errors in the last 60 s",
	"pyxis: imported docker image: hpcreid/openmpi:230130",
	"srun: Job 84993 step creation temporarily disabled, retrying (Requested nodes are busy)",
	"** (gedit:22202): WARNING **: Set document metadata failed: Setting attribute metadata not supported",
	"DEBUG 04-17 08:12:24 [core_client.py:421] Waiting for 1 core engine proc(s) to start: {0}",
	"FutureWarning: `evaluation_strategy` is deprecated and will be removed in version 4.46 of Transformers. Use `eval_strategy` instead",
	"08/16/2023 09:23:30 - WARNING - llmtuner.extras.callbacks - Previous log file in this folder will be deleted.",
	"The following values were not passed to `accelerate launch` and had defaults used instead:\n\t`--num_processes` was set to `1`\n\t`--mixed_precision` was set to `'no'`",
	"Corrupt JPEG data: 211 extraneous bytes before marker 0xd9",
	"WARNING: the batch size is not divisible by the number of devices in the last step; padding 3 samples",
	"INFO autocast: dtype torch.float32 expected by layer_norm, got torch.bfloat16; casting",
	"W0101 torch/_dynamo: graph break: shape mismatch of guards, recompiling (3 of 8)",
	"[W socket.cpp:558] [c10d] The IPv6 network addresses of (train-workers-0-0.train-workers, 3389) cannot be retrieved (gai error: -2 - Name or service not known).",
	"2026-01-02 03:04:05.000001: E external/local_xla/xla/stream_executor/cuda/cuda_driver.cc:1002] failed to allocate 2.20GiB (2362232012 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
}

func TestScaryWordsOfHealthyRuns(t *testing.T) {
	c := catalog(t)
	for _, text := range scary {
		story := diagnose.Case{Now: noon}
		story.AddLog("train.log", []byte("step 1 loss: 2.3\n"+text+"\nstep 2 loss: 2.2\nstep 3 loss: 2.1\n"))
		r := diagnose.Diagnose(t.Context(), story, c, diagnose.Options{})
		if r.Verdict == diagnose.Healthy {
			continue
		}
		by := ""
		if r.Root != nil {
			by = r.Root.Signature
		}
		head, _, _ := strings.Cut(text, "\n")
		t.Errorf("%.90q: %s %s by %s; want healthy", head, r.Verdict, r.Category, by)
	}
}
