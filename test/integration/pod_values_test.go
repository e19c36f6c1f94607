//go:build integration

package integration

import (
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/signalbox-dev/signalbox/preflight"
	"github.com/signalbox-dev/signalbox/preflight/check"
	"github.com/signalbox-dev/signalbox/preflight/checks"
	"github.com/signalbox-dev/signalbox/preflight/finding"
)

// podValues are fields of a pod's spec, or of its container behind "c: ", that the API server takes or refuses.
// Each is asked of the API server; nothing here says which of the two it does.
var podValues = []string{
	"terminationGracePeriodSeconds: -5", "terminationGracePeriodSeconds: 0", "dnsPolicy: None", "{dnsPolicy: None, dnsConfig: {nameservers: [1.1.1.1]}}",
	"hostname: A_b", "hostname: a-b", "preemptionPolicy: never", "preemptionPolicy: PreemptLowerPriority", "{hostPID: true, shareProcessNamespace: true}",
	"{hostPID: true, shareProcessNamespace: false}",
	"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}}",
	"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{}]}}}",
	"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: in, values: [b]}]}]}}}",
	"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: In}]}]}}}",
	"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists, values: [b]}]}]}}}",
	"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ['1', '2']}]}]}}}",
	"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Gt, values: ['1']}]}]}}}",
	"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.names, operator: In, values: [b]}]}]}}}",
	"affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [b]}]}]}}}",
	"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 0, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}",
	"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 101, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}",
	"affinity: {nodeAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 100, preference: {matchExpressions: [{key: a, operator: Exists}]}}]}}",
	"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{labelSelector: {matchLabels: {a: b}}}]}}",
	"affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchLabels: {a: b}}}]}}",
	"affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone, labelSelector: {matchExpressions: [{key: a, operator: Gt, values: ['1']}]}}]}}",
	"affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 5, podAffinityTerm: {labelSelector: {}}}]}}",
	"affinity: {podAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 500, podAffinityTerm: {topologyKey: zone, labelSelector: {}}}]}}",
	"topologySpreadConstraints: [{maxSkew: 0, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]",
	"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]",
	"topologySpreadConstraints: [{maxSkew: 1, topologyKey: '', whenUnsatisfiable: DoNotSchedule}]",
	"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: Never}]",
	"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, minDomains: 2}]",
	"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, minDomains: 0}]",
	"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]",
	"topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 2, topologyKey: zone, whenUnsatisfiable: ScheduleAnyway}]",
	"volumes: [{name: q}]", "volumes: [{name: q, emptyDir: {}, hostPath: {path: /a}}]", "volumes: [{name: q, hostPath: {path: /a, type: Dir}}]",
	"volumes: [{name: q, hostPath: {path: /a, type: Directory}}]", "volumes: [{name: q, hostPath: {path: /a/../b}}]", "volumes: [{name: q, hostPath: {path: /a..b}}]",
	"volumes: [{name: q, configMap: {name: a, defaultMode: 0777}}]", "volumes: [{name: q, configMap: {name: a, defaultMode: 777}}]", "volumes: [{name: q, secret: {secretName: a, defaultMode: 512}}]",
	"volumes: [{name: q, downwardAPI: {defaultMode: -1, items: []}}]", "volumes: [{name: q, projected: {defaultMode: 511, sources: []}}]", "volumes: [{name: q, configMap: {}}]", "volumes: [{name: q, secret: {}}]", "volumes: [{name: q, persistentVolumeClaim: {claimName: ''}}]", "volumes: [{name: q, ephemeral: {}}]",
	"tolerations: [{key: a, operator: Exists, value: b}]", "tolerations: [{key: a, effect: NoRun}]", "tolerations: [{key: a, effect: NoSchedule, tolerationSeconds: 3}]",
	"tolerations: [{operator: Exists}]", "nodeSelector: {a: 'b c'}",
	"tolerations: [{key: a, operator: Gt, value: '5'}]", "tolerations: [{key: a, operator: Lt, value: high}]", "tolerations: [{operator: Equal}]",
	"{nodeName: a, schedulingGates: [{name: g}]}", "schedulingGates: [{name: g}]",
	"volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {resources: {requests: {storage: 1Gi}}}}}}]",
	"volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]",
	"volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOncePod], resources: {requests: {storage: 1Gi}}}}}}]",
	"volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOncePod, ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}}}]",
	"volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWrite], resources: {requests: {storage: 1Gi}}}}}}]",
	"volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce]}}}}]",
	"volumes: [{name: v, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: '0'}}}}}}]",
	"{resources: {requests: {cpu: 1}}, c: {resources: {requests: {cpu: 2}}}}", "{resources: {requests: {cpu: 2}}, c: {resources: {requests: {cpu: 2}}}}",
	"{resources: {limits: {cpu: 1}}, c: {resources: {limits: {cpu: 2}}}}", "resources: {limits: {ephemeral-storage: 1Gi}}", "resources: {limits: {hugepages-2Mi: 2Mi}}",
	"{resources: {limits: {memory: 1Gi}}, c: {resources: {limits: {cpu: 2}}}}",
	"c: resources: {limits: {hugepages-2Mi: 2Mi}}", "c: ports: [{containerPort: 80, hostPort: 80}, {containerPort: 81, hostPort: 80}]",
	"c: ports: [{containerPort: 80, hostPort: 80}, {containerPort: 81, hostPort: 80, protocol: UDP}]", "{hostNetwork: true, c: {ports: [{containerPort: 80}, {containerPort: 80}]}}",
	"c: ports: [{containerPort: 80, hostPort: 80}, {containerPort: 81, hostPort: 80, hostIP: 127.0.0.1}]",
	"c: env: [{name: A B, value: x}]", "c: env: [{name: '', value: x}]", "c: env: [{name: A=B, value: x}]", "c: env: [{name: A, value: x, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]",
	"c: env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]", "c: env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.nam}}}]",
	"c: env: [{name: A, valueFrom: {fieldRef: {fieldPath: \"metadata.labels['a']\"}}}]", "c: env: [{name: A, valueFrom: {fieldRef: {fieldPath: status.podIPs}}}]",
	"c: env: [{name: A, valueFrom: {fieldRef: {fieldPath: spec.hostname}}}]", "c: env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.labels}}}]",
	"c: env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.gpu}}}]", "c: env: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}]",
	"c: envFrom: [{}]", "c: envFrom: [{configMapRef: {name: a}}]", "c: envFrom: [{configMapRef: {name: a}, secretRef: {name: b}}]",
	"c: volumeMounts: [{name: v, mountPath: ''}]", "c: volumeMounts: [{name: v, mountPath: '/a:b'}]", "c: volumeMounts: [{name: v, mountPath: a}]", "c: volumeMounts: [{name: v, mountPath: /x, subPath: ../a}]",
	"c: volumeMounts: [{name: v, mountPath: /x, subPath: a/..b}]", "c: volumeMounts: [{name: v, mountPath: /x, subPath: /a}]", "c: volumeMounts: [{name: v, mountPath: /x, subPath: a, subPathExpr: b}]",
	"c: livenessProbe: {periodSeconds: 5}", "c: livenessProbe: {tcpSocket: {port: 0}}", "c: livenessProbe: {tcpSocket: {port: 80}, successThreshold: 2}",
	"c: readinessProbe: {tcpSocket: {port: 80}, successThreshold: 2}", "c: startupProbe: {exec: {command: [a]}, tcpSocket: {port: 80}}", "c: livenessProbe: {httpGet: {port: 65536}}",
	"c: lifecycle: {preStop: {}}", "c: lifecycle: {preStop: {exec: {command: [a]}}}", "c: lifecycle: {postStart: {sleep: {seconds: 1}}}",
	"c: ports: [{containerPort: 80, hostPort: 70000}]", "c: ports: [{containerPort: 80, protocol: tcp}]", "c: ports: [{containerPort: 70000}]", "c: ports: [{containerPort: 80, name: Web}]",
	"{hostNetwork: true, c: {ports: [{containerPort: 80, hostPort: 81}]}}", "{hostNetwork: true, c: {ports: [{containerPort: 80, hostPort: 80}]}}", "{hostNetwork: true, c: {ports: [{containerPort: 80}]}}",
	"c: securityContext: {runAsUser: -1}", "c: securityContext: {privileged: true, allowPrivilegeEscalation: false}", "c: securityContext: {privileged: true, allowPrivilegeEscalation: true}",
}

var _ = Describe("values in a pod template", func() {
	It("are refused where the API server refuses the pod", func(ctx SpecContext) {
		pods := plane.Clientset().CoreV1().Pods(metav1.NamespaceDefault)
		set, err := check.NewSet(checks.All()...)
		Expect(err).NotTo(HaveOccurred())
		reviewer := &preflight.Reviewer{Checks: set}
		var wrong []string
		refusals := 0
		for _, value := range podValues {
			spec := podOf(value)
			text, err := yaml.Marshal(spec)
			Expect(err).NotTo(HaveOccurred())
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
			Expect(yaml.Unmarshal(text, &pod.Spec)).To(Succeed())
			_, err = pods.Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			refused := apierrors.IsInvalid(err) || apierrors.IsForbidden(err) // a plugin's word
			Expect(err == nil || refused).To(BeTrue(), "%s: %v", value, err)
			report, reviewErr := reviewer.Review(ctx, preflight.Request{Operation: "CREATE", Object: &unstructured.Unstructured{Object: map[string]any{
				"apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob", "metadata": map[string]any{"name": "a", "namespace": "default"},
				"spec": map[string]any{"pytorchReplicaSpecs": map[string]any{"Master": map[string]any{"replicas": int64(1), "template": map[string]any{"spec": spec}}}},
			}}})
			Expect(reviewErr).NotTo(HaveOccurred())
			if found := slices.ContainsFunc(report.Findings, func(f finding.Finding) bool { return f.Check == "pod-value-refused" }); found != refused {
				wrong = append(wrong, fmt.Sprintf("%s: Signalbox refuses it: %t; the API server: %v", value, found, err))
			}
			if refused {
				refusals++
			}
		}
		Expect(wrong).To(BeEmpty())
		Expect(refusals).To(And(BeNumerically(">", 40), BeNumerically("<", len(podValues)-20)), "most values on one side show little")
	})
})

// podOf is a pod's spec with a value in it.
func podOf(value string) map[string]any {
	spec := map[string]any{}
	if rest, ok := strings.CutPrefix(value, "c: "); ok {
		of := map[string]any{}
		Expect(yaml.Unmarshal([]byte(rest), &of)).To(Succeed())
		spec["c"] = of
	} else {
		Expect(yaml.Unmarshal([]byte(value), &spec)).To(Succeed())
	}
	container, _ := spec["c"].(map[string]any)
	if container == nil {
		container = map[string]any{}
	}
	delete(spec, "c")
	container["name"], container["image"] = "pytorch", "registry.example.com/train:1"
	spec["containers"] = []any{container}
	if spec["volumes"] == nil {
		spec["volumes"] = []any{map[string]any{"name": "v", "emptyDir": map[string]any{}}}
	}
	return spec
}
