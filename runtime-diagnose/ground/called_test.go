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
		"The secret a-tls-secret was not found [pod/run-0/t#1].":            secrets,
		"Port 7399 is already in use [pod/run-0/t#1].":                      port,
		"The main container was using 4395616Ki of memory [pod/run-0/t#1].": memory,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) != published {
			t.Errorf("%s: is not published: %s", sentence, k.LeftOut())
		}
	}
}
