package ground

import (
	"strings"
	"testing"
)

// What one clause of a line, one container of a pod or one role of a job has is not shown of another.
func TestWhatAnotherClauseContainerOrRoleHasIsNotPublished(t *testing.T) {
	indexes := gang("run-0: an index failed", "0/t#1", "", "0/t#1 Job has failed indexes: 4; succeeded indexes: 0-3")
	shards := gang("run-0: shards were rejected", "0/t#1", "", "0/t#1 accepted shards: 0-7; rejected shards: 8; checksum differs")
	versions := gang("run-0: ranks run different versions of a library", "0/t#1", "1/t#2", "0/t#1 image train:v4, CUDA 12.4.1", "1/t#2 image train:nightly, CUDA 12.8.0")
	for i, role := range []string{"launcher", "leader"} {
		versions.Items[i].Source.Role = role
	}
	containers := gang("run-0: an init container failed", "0/fetch/exit", "", "0/fetch/exit init container fetch ended: exit code 1", "0/train/waiting container train waits: PodInitializing", "0/worker/waiting container worker waits: PodInitializing", "0/proxy/exit container proxy ended: exit code 143")
	for i := range containers.Items {
		containers.Items[i].Source.Container = strings.Split(string(containers.Items[i].ID), "/")[2]
	}
	for sentence, s := range map[string]Shown{
		"Index 4 succeeded [pod/run-0/t#1].":                                                      indexes,
		"索引 4 已成功，索引 0-3 失败 [pod/run-0/t#1]。":                                                     indexes,
		"失败的索引为 0-3，成功的索引为 4 [pod/run-0/t#1]。":                                                    indexes,
		"索引 0-3 失败 [pod/run-0/t#1]。":                                                              indexes,
		"Shards 0-7: checksum differs [pod/run-0/t#1].":                                           shards,
		"分片 0-7：checksum differs [pod/run-0/t#1]。":                                                shards,
		"Leader: CUDA 12.4.1 [pod/run-0/t#1] [pod/run-1/t#2].":                                    versions,
		"Shards 0-7 were rejected [pod/run-0/t#1].":                                               shards,
		"The accepted shards are 8 [pod/run-0/t#1].":                                              shards,
		"leader 使用 CUDA 12.4.1，而 launcher 使用 CUDA 12.8.0 [pod/run-0/t#1] [pod/run-1/t#2]。":        versions,
		"leader 使用 CUDA 12.4.1 [pod/run-0/t#1] [pod/run-1/t#2]。":                                  versions,
		"launcher：CUDA 12.8.0 [pod/run-0/t#1] [pod/run-1/t#2]。":                                   versions,
		"The launcher's image is train:nightly [pod/run-0/t#1] [pod/run-1/t#2].":                  versions,
		"The container train ended with exit code 1 [pod/run-0/fetch/exit].":                      containers,
		"The train container ended with exit code 1 [pod/run-0/fetch/exit].":                      containers,
		"容器 train 以退出码 1 结束 [pod/run-0/fetch/exit]。":                                              containers,
		"worker 容器以退出码 143 结束 [pod/run-0/proxy/exit]。":                                            containers,
		"The init container fetch ended with exit code 143 [pod/run-0/proxy/exit].":               containers,
		"Container fetch ended: exit code 143 [pod/run-0/proxy/exit] [pod/run-0/fetch/exit].":     containers,
		"The container train ended: exit code 143 [pod/run-0/proxy/exit] [pod/run-0/fetch/exit].": containers,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) == published {
			t.Errorf("%s: is published: %s", sentence, k.Analysis)
		}
	}
	for sentence, s := range map[string]Shown{
		"Failed indexes: 4 [pod/run-0/t#1].":                                               indexes,
		"失败的索引为 4，成功的索引为 0-3 [pod/run-0/t#1]。":                                             indexes,
		"Rejected shards: 8 [pod/run-0/t#1].":                                              shards,
		"launcher 使用 CUDA 12.4.1，而 leader 使用 CUDA 12.8.0 [pod/run-0/t#1] [pod/run-1/t#2]。": versions,
		"The init container fetch ended with exit code 1 [pod/run-0/fetch/exit].":          containers,
		"初始化容器 fetch 以退出码 1 结束 [pod/run-0/fetch/exit]。":                                    containers,
		"The container proxy ended with exit code 143 [pod/run-0/proxy/exit].":             containers,
	} {
		if k := Keep(Answer{Analysis: sentence}, s); outcomeOf(k) != published {
			t.Errorf("%s: is not published: %s", sentence, k.LeftOut())
		}
	}
}
