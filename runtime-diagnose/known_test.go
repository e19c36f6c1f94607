package diagnose_test

import (
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/bare"
)

// known are lines as programs of the field print them, one log each, and the category they
// have to end in. They are written from the sources of the programs, not from the corpus.
var known = []struct{ category, log string }{
	{"gpu-oom", "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 14.76 GiB total capacity; 13.51 GiB already allocated)"},
	{"gpu-oom", "RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.97 GiB total capacity)"},
	{"gpu-oom", "2024-01-01 00:00:00.0: F external/xla/xla/pjrt/pjrt_stream_executor_client.cc:2711] RESOURCE_EXHAUSTED: Out of memory allocating 34359738368 bytes."},
	{"gpu-oom", "cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,589,934,592 bytes (allocated so far: 0 bytes)."},
	{"gpu-oom", "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"},
	{"gpu-oom", "mxnet.base.MXNetError: [00:00:00] src/storage/./pooled_storage_manager.h:161: cudaMalloc retry failed: out of memory"},
	{"host-oom-killed", "[12345.678] Memory cgroup out of memory: Killed process 7777 (python3) total-vm:99999999kB, anon-rss:66666666kB, file-rss:0kB, shmem-rss:0kB"},
	{"host-oom-killed", "slurmstepd: error: Detected 3 oom-kill event(s) in StepId=77.batch cgroup. Some of your processes may have been killed by the cgroup out-of-memory handler."},
	{"host-oom-killed", "numpy.core._exceptions.MemoryError: Unable to allocate 29.8 GiB for an array with shape (4000000000,) and data type float64"},
	{"host-oom-killed", "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc"},
	{"host-oom-killed", "RuntimeError: [enforce fail at alloc_cpu.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you tried to allocate 68719476736 bytes. Error code 12 (Cannot allocate memory)"},
	{"illegal-memory-access", "Memory access fault by GPU **node-2** on address 0x422ea6b000. Reason: Page not present or supervisor privilege."},
	{"python-exception-user-code", "* **Error**: `[rank1]: RuntimeError: the head dimension of this kernel is at most 256`"},
	{"rendezvous-timeout", "[LightGBM] [Warning] Connecting to rank 5 failed, waiting for 2746 milliseconds"},
	{"host-oom-killed", "  exitcode  : -9 (pid: 77)\n  traceback : Signal 9 (SIGKILL) received by PID xxxx"},
	{"segfault", "ERROR: Unexpected segmentation fault encountered in worker."},
	{"shm-exhausted", "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm)."},
	{"shm-exhausted", "RuntimeError: unable to open shared memory object </torch_77_1234> in read-write mode: No space left on device (28)"},
	{"shm-exhausted", "train-0:77:99 [0] misc/shmutils.cc:72 NCCL WARN Error: failed to extend /dev/shm/nccl-AbCdEf to 9637892 bytes"},
	{"dataloader-worker-killed", "RuntimeError: DataLoader worker (pid 4242) is killed by signal: Killed."},
	{"gpu-hardware-xid", "kernel: NVRM: Xid (PCI:0000:41:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."},
	{"gpu-hardware-xid", "kernel: NVRM: Xid (PCI:0000:4e:00): 62, pid='<unknown>', name=<unknown>, 5f1d 00000000 00000000"},
	{"ecc-error", "kernel: NVRM: Xid (PCI:0000:41:00): 63, pid=1234, Row Remapper: New row marked for remapping, reset gpu to activate."},
	{"ecc-error", "RuntimeError: CUDA error: uncorrectable ECC error encountered\nCompile with `TORCH_USE_CUDA_DSA` to enable device-side assertions."},
	{"nvlink-fault", "RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution"},
	{"nvlink-fault", "nvidia-nvswitch0: SXid (PCI:0000:06:00.0): 12028, Non-fatal, Link 33 egress non-posted PRIV error (First)"},
	{"infiniband-fault", "gpu-1:77:99 [3] transport/net_ib.cc:2005 NCCL WARN NET/IB: Got completion from peer 10.0.0.1<50000> with status=12 opcode=0 len=0 vendor err 129 (Send) localGid fe80::1 remoteGids fe80::2 hca mlx5_3"},
	{"infiniband-fault", "mlx5_core 0000:5e:00.0: mlx5_cmd_fw_fatal firmware fatal error detected"},
	{"cuda-driver-mismatch", "RuntimeError: CUDA driver version is insufficient for CUDA runtime version"},
	{"cuda-driver-mismatch", "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550.54"},
	{"cuda-driver-mismatch", "RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda functions before calling NumCudaDevices() that might have already set an error? Error 803: system has unsupported display driver / cuda driver combination"},
	{"cuda-arch-no-kernel-image", "torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device"},
	{"no-gpu-visible", "RuntimeError: Attempting to deserialize object on a CUDA device but torch.cuda.is_available() is False. If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu')"},
	{"no-gpu-visible", "ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!"},
	{"no-gpu-visible", "RuntimeError: Unable to initialize backend 'cuda': FAILED_PRECONDITION: No visible GPU devices. (you may need to uninstall the failing plugin package)"},
	{"no-gpu-visible", "lightning.fabric.utilities.exceptions.MisconfigurationException: No supported gpu backend found!"},
	{"illegal-memory-access", "RuntimeError: CUDA error: an illegal memory access was encountered"},
	{"device-side-assert", "/pytorch/aten/src/ATen/native/cuda/ScatterGatherKernel.cu:144: operator(): block: [0,0,0], thread: [5,0,0] Assertion `idx_dim >= 0 && idx_dim < index_size && \"index out of bounds\"` failed."},
	{"nccl-timeout", "[rank2]:[E101 00:00:00.000000 ProcessGroupNCCL.cpp:632] [Rank 2] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600053 milliseconds before timing out."},
	{"nccl-init-network", "gpu-1:77:77 [0] bootstrap.cc:45 NCCL WARN Bootstrap : no socket interface found"},
	{"nccl-init-network", "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1333, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.18.1"},
	{"nccl-version-mismatch", "ImportError: /usr/lib/python3/dist-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommWindowRegister"},
	{"rendezvous-timeout", "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined."},
	{"rendezvous-timeout", "torch.distributed.elastic.rendezvous.api.RendezvousTimeoutError"},
	{"rendezvous-timeout", "RuntimeError: The client socket has failed to connect to any network address of (train-master-0, 23456). The IPv4 network addresses of (train-master-0, 23456) timed out"},
	{"wrong-world-size", "AssertionError: world_size (6) is not divisible by 4"},
	{"wrong-world-size", "RuntimeError: world size (8) is not divisible by expert_tensor_model_pipeline_parallel size (3)"},
	{"port-in-use", "RuntimeError: The server socket has failed to listen on any local network address. The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in use)."},
	{"port-in-use", "E0101 server_chttp2.cc:40] {\"description\":\"No address added out of total 1 resolved\",\"errors\":[{\"os_error\":\"Address already in use\"}]}"},
	{"network-dns", "socket.gaierror: [Errno -2] Name or service not known"},
	{"network-dns", "requests.exceptions.ConnectionError: HTTPConnectionPool(host='tracker', port=80): Max retries exceeded with url: / (Caused by NewConnectionError('Failed to establish a new connection: [Errno 110] Connection timed out'))"},
	{"launcher-ssh-failure", "ssh: connect to host train-worker-1.train.ml.svc port 22: Connection timed out"},
	{"launcher-ssh-failure", "Permission denied (publickey,password)."},
	{"mpi-failure", "There are not enough slots available in the system to satisfy the 8\nslots that were requested by the application:"},
	{"mpi-failure", "The application appears to have been direct launched using \"srun\",\nbut OMPI was not built with SLURM's PMI support and therefore cannot\nexecute."},
	{"hang-no-progress", "[rank0]:[E101 00:00:00.0 ProcessGroupNCCL.cpp:1375] [PG 0 (default_pg) Rank 0] Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=3"},
	{"ray-actor-died", "ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.\n\tclass_name: Trainer"},
	{"nan-loss", "{'loss': nan, 'grad_norm': nan, 'learning_rate': 0.0, 'epoch': 1.0}"},
	{"nan-loss", "iteration      100/  500000 | consumed samples: 25600 | lm loss: NAN | loss scale: 1.0"},
	{"nan-loss", "FloatingPointError: Minimum loss scale reached (0.0001). Your loss is probably exploding."},
	{"nan-loss", "[rank3]: AssertionError: Rank 3: found NaN in local grad norm in backward pass before data-parallel communication collective."},
	{"nan-loss", "Epoch 3: loss=nan, acc=0.10"},
	{"gpu-oom", "uncaught exception:\n    address -> 0x106516800\n    what() -> \"catboost/cuda/cuda_lib/memory_pool/stack_like_memory_pool.h:303: Error: Out of memory. Requested 27891.06152 MB; Free 7088.101953 MB\""},
	{"python-exception-user-code", "16/06/16 06:26:45 WARN TaskSetManager: Lost task 0.0 in stage 57.0 (TID 39, 10.0.0.10): java.lang.AssertionError: assertion failed: lapack.dppsv returned 1."},
	{"nan-loss", "[INFO] [stage2.py:1628:step] [deepscale] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 1, reducing to 1"},
	{"segfault", "W1212 04:02:33.403934 24044 init.cc:205] *** SIGSEGV (@0x0) received by PID 24044 (TID 0x7f6406bd7740) from PID 0; stack trace: ***"},
	{"sigterm-preempted", "*** Aborted at 1517283016 (unix time) try \"date -d @1517283016\" if you are using GNU date ***\n*** SIGTERM (@0x10660) received by PID 67127 (TID 0x7f27b85c7700) from PID 67168; stack trace: ***"},
	{"rendezvous-timeout", "DEADLINE_EXCEEDED: Deadline Exceeded\nRPC: /tensorflow.CoordinationService/RegisterTask"},
	{"argument-or-config-error", "_catboost.CatboostError: Invalid param `pinned_memory_size`."},
	{"no-convergence", "Model did not converge within 100 epochs"},
	{"missing-module", "ModuleNotFoundError: No module named 'deepspeed'"},
	{"missing-module", "ImportError: Using `low_cpu_mem_usage=True` or a `device_map` requires Accelerate: `pip install 'accelerate>=0.26.0'`"},
	{"import-version-conflict", "ImportError: cannot import name 'cached_download' from 'huggingface_hub' (/usr/lib/python3/dist-packages/huggingface_hub/__init__.py)"},
	{"import-version-conflict", "RuntimeError: operator torchvision::nms does not exist"},
	{"import-version-conflict", "ValueError: numpy.dtype size changed, may indicate binary incompatibility. Expected 96 from C header, got 88 from PyObject"},
	{"import-version-conflict", "ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory"},
	{"argument-or-config-error", "usage: train.py [-h] --data DATA\ntrain.py: error: the following arguments are required: --data"},
	{"argument-or-config-error", "torchrun: error: unrecognized arguments: --nproc=8"},
	{"argument-or-config-error", "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable RANK expected, but not set"},
	{"argument-or-config-error", "bash: line 1: accelerate: command not found"},
	{"deepspeed-config", "AssertionError: Check batch related parameters. train_batch_size is not equal to micro_batch_per_gpu * gradient_acc_step * world_size 256 != 4 * 8 * 4"},
	{"shape-mismatch", "RuntimeError: The size of tensor a (77) must match the size of tensor b (1024) at non-singleton dimension 1"},
	{"shape-mismatch", "ValueError: operands could not be broadcast together with shapes (3,4) (5,)"},
	{"shape-mismatch", "RuntimeError: stack expects each tensor to be equal size, but got [3, 224, 224] at entry 0 and [1, 224, 224] at entry 1"},
	{"shape-mismatch", "ValueError: Expected input batch_size (32) to match target batch_size (16)."},
	{"dtype-mismatch", "RuntimeError: expected scalar type Half but found Float"},
	{"dtype-mismatch", "RuntimeError: \"addmm_impl_cpu_\" not implemented for 'Half'"},
	{"checkpoint-corrupt-or-mismatch", "RuntimeError: Error(s) in loading state_dict for Net:\n\tsize mismatch for fc.weight: copying a param with shape torch.Size([10, 512]) from checkpoint, the shape in current model is torch.Size([100, 512])."},
	{"checkpoint-corrupt-or-mismatch", "_pickle.UnpicklingError: invalid load key, 'v'."},
	{"checkpoint-corrupt-or-mismatch", "safetensors_rust.SafetensorError: Error while deserializing header: HeaderTooLarge"},
	{"dataset-error", "pyarrow.lib.ArrowInvalid: Could not open Parquet input source '<Buffer>': Parquet magic bytes not found in footer."},
	{"dataset-error", "ValueError: num_samples should be a positive integer value, but got num_samples=0"},
	{"dataset-error", "datasets.exceptions.DatasetGenerationError: An error occurred while generating the dataset"},
	{"file-not-found", "FileNotFoundError: [Errno 2] No such file or directory: '/mnt/data/train.jsonl'"},
	{"file-not-found", "/usr/bin/python3: can't open file '/workspace/trian.py': [Errno 2] No such file or directory"},
	{"permission-denied", "PermissionError: [Errno 13] Permission denied: '/checkpoints/step_1'"},
	{"permission-denied", "mkdir: cannot create directory '/output': Permission denied"},
	{"python-syntax-error", "  File \"train.py\", line 3\n    print 'x'\n          ^\nSyntaxError: Missing parentheses in call to 'print'. Did you mean print(...)?"},
	{"python-exception-user-code", "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    main()\nTypeError: forward() got an unexpected keyword argument 'labels'"},
	{"python-exception-user-code", "Traceback (most recent call last):\n  File \"train.py\", line 3, in <module>\n    x[9]\nIndexError: list index out of range"},
	{"python-exception-user-code", "NameError: name 'devcie' is not defined"},
	{"tokenizer-or-model-download-auth", "OSError: You are trying to access a gated repo.\nMake sure to have access to it at https://huggingface.co/meta-llama/Llama-3.1-8B."},
	{"tokenizer-or-model-download-auth", "OSError: We couldn't connect to 'https://huggingface.co' to load the files, and couldn't find them in the cached files."},
	{"segfault", "Fatal Python error: Segmentation fault"},
	{"segfault", "corrupted size vs. prev_size\nrun.sh: line 4:    77 Aborted                 (core dumped) python train.py"},
	{"disk-full", "OSError: [Errno 28] No space left on device"},
	{"disk-full", "OSError: [Errno 122] Disk quota exceeded"},
	{"disk-full", "safetensors_rust.SafetensorError: Error while serializing: IoError(Os { code: 28, kind: StorageFull, message: \"No space left on device\" })"},
	{"storage-io", "OSError: [Errno 5] Input/output error: '/mnt/nfs/shard-3.tar'"},
	{"storage-io", "OSError: [Errno 107] Transport endpoint is not connected: '/mnt/fuse'"},
	{"sigterm-preempted", "slurmstepd: error: *** JOB 99 ON gpu-1 CANCELLED AT 2026-01-01T00:00:00 DUE TO PREEMPTION ***"},
	{"sigterm-preempted", "W0101 00:00:00.000000 77 torch/distributed/elastic/agent/server/api.py:719] Received Signals.SIGTERM death signal, shutting down workers"},
	{"gpu-oom", "E 2026-01-01 hip_memory.cpp] hipErrorOutOfMemory: HIP error: out of memory"},
	{"gpu-oom", "ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (30000). Try increasing `gpu_memory_utilization` or decreasing `max_model_len`"},
	{"host-oom-killed", "[2026-01-01 00:00:00,000] torch.distributed.elastic.multiprocessing.api: [ERROR] failed (exitcode: -9) local_rank: 0 (pid: 77) of binary: /usr/bin/python"},
	{"host-oom-killed", "(raylet) node_manager.cc:3193: 5 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: 1, IP: 10.0.0.1)"},
	{"shm-exhausted", "paddle.fluid.core_avx.EnforceNotMet: Bus error (core dumped)"},
	{"cuda-driver-mismatch", "nvidia-container-cli: requirement error: unsatisfied condition: cuda>=12.8, please update your driver to a newer version, or use an earlier cuda container: unknown"},
	{"no-gpu-visible", "RuntimeError: No HIP GPUs are available"},
	{"no-gpu-visible", "AssertionError: Torch not compiled with CUDA enabled"},
	{"wrong-world-size", "ValueError: Total number of attention heads (40) must be divisible by tensor parallel size (16)."},
	{"wrong-world-size", "RuntimeError: CUDA error: invalid device ordinal"},
	{"wrong-world-size", "AssertionError: world size (16) is not divisible by total_model_size (encoder_model_size=0 + decoder_model_size=12)"},
	{"rendezvous-timeout", "jax.errors.JaxRuntimeError: DEADLINE_EXCEEDED: Deadline Exceeded RPC: /tensorflow.CoordinationService/RegisterTask"},
	{"network-dns", "RuntimeError: [c10d] The hostname of the client socket cannot be retrieved. err=-3: Temporary failure in name resolution"},
	{"argument-or-config-error", "hydra.errors.ConfigCompositionException: Could not override 'trainer.gpus'."},
	{"argument-or-config-error", "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'MASTER_ADDR'"},
	{"deepspeed-config", "deepspeed.runtime.config.DeepSpeedConfigError: Only one of 'dynamic' and 'static' can be set"},
	{"deepspeed-config", "ValueError: Please correct the following DeepSpeed config values that mismatch TrainingArguments values:"},
	{"checkpoint-corrupt-or-mismatch", "EOFError: Ran out of input"},
	{"checkpoint-corrupt-or-mismatch", "OSError: Unable to load weights from pytorch checkpoint file for '/m/pytorch_model.bin' at '/m/pytorch_model.bin'."},
	{"dataset-error", "PIL.UnidentifiedImageError: cannot identify image file <_io.BytesIO object at 0x7f>"},
	{"dataset-error", "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte"},
	{"dataset-error", "tensorflow.python.framework.errors_impl.DataLossError: corrupted record at 1024"},
	{"tokenizer-or-model-download-auth", "requests.exceptions.HTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/api/models/x/y"},
	{"tokenizer-or-model-download-auth", "huggingface_hub.errors.LocalEntryNotFoundError: Cannot find the requested files in the disk cache and outgoing traffic has been disabled."},
	{"storage-io", "OSError: [Errno 116] Stale file handle: '/home/u/.cache'"},
	{"storage-io", "botocore.exceptions.EndpointConnectionError: Could not connect to the endpoint URL: \"http://minio:9000/b\""},
	{"segfault", "[gpu-1:00077] *** Process received signal ***\n[gpu-1:00077] Signal: Segmentation fault (11)\n[gpu-1:00077] Signal code: Address not mapped (1)"},
	{"mpi-failure", "A system call failed during shared memory initialization that should\nnot have.\nORTE was unable to reliably start one or more daemons."},
	{"launcher-ssh-failure", "Host key verification failed.\n--------------------------------------------------------------------------\nORTE was unable to reliably start one or more daemons."},
	{"python-exception-user-code", "thread 'main' said nothing\nTraceback (most recent call last):\n  File \"a.py\", line 9, in f\n    y = 1 / n\nZeroDivisionError: division by zero"},
	{"infiniband-fault", "NCCL WARN NET/IB : Unable to open device mlx5_3, port error: IBV_PORT_DOWN"},
	{"gpu-hardware-xid", "RuntimeError: CUDA error: unspecified launch failure"},
	{"hang-no-progress", "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks for more than 60 seconds."},
}

// pasted are events and descriptions as people paste them.
var pasted = []struct{ category, text string }{
	{"image-pull", "3m  Warning  Failed  pod/a  Failed to pull image \"r/x:1\": rpc error: code = Unknown desc = Error response from daemon: manifest for r/x:1 not found: manifest unknown"},
	{"image-pull", "3m  Warning  Failed  pod/a  Error: ErrImageNeverPull"},
	{"image-pull", "3m  Warning  InspectFailed  pod/a  Failed to apply default image tag \"r/x:\": couldn't parse image name \"r/x:\": invalid reference format"},
	{"container-config", "3m  Warning  Failed  pod/a  Error: configmap \"train-config\" not found"},
	{"container-config", "3m  Warning  Failed  pod/a  Error: container has runAsNonRoot and image will run as root (pod: \"a_ml(1)\", container: c)"},
	{"container-config", "3m  Warning  Failed  pod/a  Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: exec: \"torchrun\": executable file not found in $PATH: unknown"},
	{"mount-failed", "3m  Warning  FailedMount  pod/a  MountVolume.SetUp failed for volume \"nfs\" : mount failed: exit status 32 Output: mount.nfs: Connection timed out"},
	{"mount-failed", "3m  Warning  FailedAttachVolume  pod/a  Multi-Attach error for volume \"pvc-1\" Volume is already exclusively attached to one node and can't be attached to another"},
	{"mount-failed", "3m  Warning  FailedMount  pod/a  Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[data]: timed out waiting for the condition"},
	{"admission-denied", "3m  Warning  FailedCreate  job/a  Error creating: pods \"a-1\" is forbidden: violates PodSecurity \"baseline:latest\": hostPath volumes (volume \"v\")"},
	{"admission-denied", "3m  Warning  FailedCreate  job/a  Error creating: admission webhook \"validate.kyverno.svc-fail\" denied the request: resource Pod/ml/a was blocked"},
	{"admission-denied", "3m  Warning  UnexpectedAdmissionError  pod/a  Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, which is unexpected"},
	{"quota-exceeded", "3m  Warning  FailedCreate  job/a  Error creating: pods \"a-1\" is forbidden: failed quota: q: must specify limits.memory for: c"},
	{"quota-exceeded", "3m  Warning  FailedCreate  job/a  Error creating: pods \"a-1\" is forbidden: maximum cpu usage per Container is 4, but limit is 8"},
	{"quota-exceeded", "3m  Normal  Pending  workload/a  couldn't assign flavors to pod set main: insufficient quota for nvidia.com/gpu in flavor h100, request > maximum capacity (16 > 8)"},
	{"unschedulable-gpu", "3m  Warning  FailedScheduling  pod/a  0/6 nodes are available: 2 node(s) had untolerated taint {pool: l40s}, 4 Insufficient nvidia.com/gpu. preemption: 0/6 nodes are available: 2 Preemption is not helpful for scheduling, 4 No preemption victims found for incoming pod."},
	{"unschedulable-cpu-memory", "3m  Warning  FailedScheduling  pod/a  0/6 nodes are available: 6 Insufficient cpu."},
	{"unschedulable-cpu-memory", "3m  Warning  FailedScheduling  pod/a  0/2 nodes are available: 2 Too many pods."},
	{"unschedulable-affinity", "3m  Warning  FailedScheduling  pod/a  0/3 nodes are available: 3 node(s) didn't match pod topology spread constraints."},
	{"unschedulable-taint", "3m  Warning  FailedScheduling  pod/a  0/3 nodes are available: 3 node(s) had taint {dedicated: infer}, that the pod didn't tolerate."},
	{"unschedulable-pvc", "3m  Warning  FailedScheduling  pod/a  0/3 nodes are available: 3 node(s) had volume node affinity conflict."},
	{"evicted", "3m  Warning  Evicted  pod/a  The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. Container c was using 60Gi, request is 1Gi, has larger consumption of memory."},
	{"evicted", "3m  Warning  Evicted  pod/a  Pod ephemeral local storage usage exceeds the total limit of containers 10Gi."},
	{"node-lost", "3m  Warning  NodeNotReady  pod/a  Node is not ready"},
	{"sigterm-preempted", "3m  Normal  Preempted  pod/a  Preempted by pod 0d1 on node gpu-1"},
	{"sigterm-preempted", "3m  Normal  TaintManagerEviction  pod/a  Marking for deletion Pod ml/a"},
	{"sigterm-preempted", "3m  Warning  DeadlineExceeded  job/a  Job was active longer than specified deadline"},
	{"host-oom-killed", "Name: a\nStatus: Failed\nContainers:\n  c:\n    State:          Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n"},
	{"host-oom-killed", "NAME   READY   STATUS      RESTARTS   AGE\na      0/1     OOMKilled   0          3m"},
	{"node-lost", "Name: gpu-1\nConditions:\n  Type    Status   Reason             Message\n  Ready   Unknown  NodeStatusUnknown  Kubelet stopped posting node status.\n"},
	{"no-gpu-visible", "3m  Warning  Failed  pod/a  Error: failed to create containerd task: failed to create shim task: OCI runtime create failed: nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown"},
}

func TestPastedTexts(t *testing.T) {
	c := catalog(t)
	for _, k := range pasted {
		t.Run(k.category, func(t *testing.T) {
			story := diagnose.Case{Now: noon}
			bare.Add(&story, "events.txt", []byte(k.text+"\n"))
			r := diagnose.Diagnose(t.Context(), story, c, diagnose.Options{})
			if r.Category != k.category {
				by := ""
				if r.Root != nil {
					by = r.Root.Signature
				}
				t.Errorf("%q\nis %q by %q, want %q", k.text, r.Category, by, k.category)
			}
		})
	}
}

func TestKnownLines(t *testing.T) {
	c := catalog(t)
	for _, k := range known {
		t.Run(k.category, func(t *testing.T) {
			story := diagnose.Case{Now: noon}
			story.AddLog("train.log", []byte(k.log+"\n"))
			r := diagnose.Diagnose(t.Context(), story, c, diagnose.Options{})
			if r.Category != k.category {
				by := ""
				if r.Root != nil {
					by = r.Root.Signature
				}
				t.Errorf("%q\nis %q by %q, want %q", k.log, r.Category, by, k.category)
			}
		})
	}
}

// harmless are lines of runs that were well.
var harmless = []string{
	"UserWarning: Failed to initialize NumPy: No module named 'numpy' (Triggered internally at tensor_numpy.cpp:84.)",
	"W tensorflow/stream_executor/platform/default/dso_loader.cc:64] Could not load dynamic library 'libnvinfer.so.7'; dlerror: libnvinfer.so.7: cannot open shared object file: No such file or directory",
	"E external/local_xla/xla/stream_executor/cuda/cuda_fft.cc:485] Unable to register cuFFT factory: Attempting to register factory for plugin cuFFT when one has already been registered",
	"[W socket.cpp:601] [c10d] The IPv6 network addresses of the client could not be used; using IPv4",
	"NCCL INFO NET/OFI Selected Provider is efa (found 4 nics)",
	"NCCL INFO NET/Plugin: No plugin found (libnccl-net.so), using internal implementation",
	"FutureWarning: You are using `torch.load` with `weights_only=False` (the current default value), which uses the default pickle module implicitly.",
	"Some weights of BertForSequenceClassification were not initialized from the model checkpoint and are newly initialized: ['classifier.weight']",
	"WARNING:torch.distributed.run: Setting OMP_NUM_THREADS environment variable for each process to be 1 in default, to avoid your system being overloaded",
	"Warning: WARNING: destroy_process_group() was not called before program exit, which can leak resources.",
	"[2026-01-01 00:00:00,000] [INFO] [loss_scaler.py:190] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536, reducing to 32768",
	"INFO: error_rate: 0.01, 0 errors, exception handling enabled",
	"Val loss did not improve from 0.231",
	"0 validation errors, permission model: strict, out-of-memory handler installed",
	"grad_norm: 0.7 | nan count: 0 | inf count: 0",
	"info: retrying connection (1/5) ... connected",
	"wandb: WARNING Path ./wandb/ wasn't writable, using system temp directory",
	"Killed 0 stale workers; timeout=600s",
}

func TestHarmlessLinesRaiseNoAlarm(t *testing.T) {
	c := catalog(t)
	for _, line := range harmless {
		story := diagnose.Case{Now: noon}
		story.AddLog("train.log", []byte("step 1 loss: 2.3\n"+line+"\nstep 2 loss: 2.2\n"))
		if r := diagnose.Diagnose(t.Context(), story, c, diagnose.Options{}); r.Verdict != diagnose.Healthy {
			by := ""
			if r.Root != nil {
				by = r.Root.Signature
			}
			t.Errorf("%q: %s %s by %s; want healthy", line, r.Verdict, r.Category, by)
		}
	}
}
