package ground

import "testing"

// A name is of its kind and of its line, a year is no port, and what would hold as well of another number is not published.
func TestWhatOnlyHasTheWordsIsNotPublished(t *testing.T) {
	secrets := gang("run-0: a volume cannot be mounted (volume a-tls)", "0/t#1", "", `0/t#1 volume "a-tls" : secret "a-tls-secret" not found`, `0/t#2 volume "b-conf" : secret "b-http-secret" not found`)
	port := gang("run-0: a port is already taken", "0/t#1", "", "0/t#1 2026/11/22 09:18:02 listen tcp 127.0.0.1:7399: bind: address already in use")
	memory := gang("run-0: the kubelet evicted the pod", "0/t#1", "", "0/t#1 Container main was using 4395616Ki, request is 0, has larger consumption of memory.")
	assertion := gang("run-0: CUDA could not be initialised", "0/t#1", "", "0/t#1 CUDA initialization: Unexpected error from cudaGetDeviceCount()", "0/t#2 AssertionError: assert torch.cuda.is_available()")
	for sentence, s := range map[string]Shown{
		"The ConfigMap a-tls-secret was not found [pod/run-0/t#1].":                                                    secrets,
		"The volume b-conf needs the Secret a-tls-secret [pod/run-0/t#2].":                                             secrets,
		"Port 2026 is taken [pod/run-0/t#1].":                                                                          port,
		"The main container stayed within its request [pod/run-0/t#1].":                                                memory,
		"The failed assertion is the reason why CUDA could not be initialised [pod/run-0/t#2] [pod/run-0/t#1].":        assertion,
		"The assertion failed on its own, without an error from cudaGetDeviceCount() [pod/run-0/t#2] [pod/run-0/t#1].": assertion,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) == published {
			t.Errorf("%s: is published: %s", sentence, k.Analysis)
		}
	}
	for sentence, s := range map[string]Shown{
		"The secret a-tls-secret was not found [pod/run-0/t#1].":  secrets,
		"127.0.0.1:7399: address already in use [pod/run-0/t#1].": port,
		"The container main was using 4395616Ki [pod/run-0/t#1].": memory,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) != published {
			t.Errorf("%s: is not published: %s", sentence, k.LeftOut())
		}
	}
}

// What is true is shown, if only apart, where only its form looks like a contradiction, an order or another's name.
func TestWhatOnlyLooksFalseIsShown(t *testing.T) {
	actor := gang("run-0: a Ray actor died", "0/t#1", "", "0/t#1 ray.exceptions.ActorDiedError: The actor died unexpectedly before finishing this task.")
	call := gang("run-0: a remote endpoint is unavailable", "0/t#1", "", "0/t#1 pdsh@n0: n0: connect: Connection refused")
	gated := gang("run-0: the model hub refused access", "0/t#1", "", "0/t#1 Cannot access gated repo for url of org/Llama-3.1-8B, python3.12")
	pod := gang("run-0: a volume cannot be mounted", "0/t#1", "", "0/t#1 run-a 0/1     ContainerCreating   0          15m")
	daemon := gang("run-0: the launcher's remote program is not installed", "0/t#1", "", "0/t#1 bash: orted: command not found")
	missing := gang("run-0: a file or folder is missing", "0/t#1", "", "0/t#1 FileNotFoundError: [Errno 2] No such file or directory: '/data/a'")
	for sentence, s := range map[string]Shown{
		"The process could not connect to n0 [pod/run-0/t#1].":                            call,
		"The repository org/Llama-3.1-8B is gated, so a token is needed [pod/run-0/t#1].": gated,
		"run-a has been in ContainerCreating for 15 minutes [pod/run-0/t#1].":             pod,
		"Open MPI is not installed in the image of the hosts [pod/run-0/t#1].":            daemon,
		"The error is ENOENT, so the path itself is missing [pod/run-0/t#1].":             missing,
		"The worker died before it had finished its task [pod/run-0/t#1].":                actor,
		"Another process must be holding the connection to n0 open [pod/run-0/t#1].":      call,
		"This is a missing file and not a hardware fault [pod/run-0/t#1].":                missing,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) == dropped {
			t.Errorf("%s: is left out: %s", sentence, k.LeftOut())
		}
	}
	for sentence, s := range map[string]Shown{
		"The actor finished the task before it died [pod/run-0/t#1].": actor,
		"The error is EACCES [pod/run-0/t#1].":                        missing,
		"The process connected to n0 [pod/run-0/t#1].":                call,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) == published {
			t.Errorf("%s: is published", sentence)
		}
	}
}
