package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	amount "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/signalbox-dev/signalbox/test/bench/filled"
)

// world is what a cluster of that size holds, as an API server lists it.
func world(size filled.Size) []runtime.Object {
	version := metav1.ListMeta{ResourceVersion: "1000"}
	nodes, pods, namespaces := &corev1.NodeList{ListMeta: version}, &corev1.PodList{ListMeta: version}, &corev1.NamespaceList{ListMeta: version}
	claims, volumes := &corev1.PersistentVolumeClaimList{ListMeta: version}, &corev1.PersistentVolumeList{ListMeta: version}
	at := metav1.NewTime(time.Now().Add(-time.Hour).Truncate(time.Second))
	stored := func(m *metav1.ObjectMeta, n int) {
		m.UID, m.ResourceVersion, m.CreationTimestamp = types.UID(fmt.Sprintf("6f0c3c0e-0b0f-4a52-9c53-%012d", n)), fmt.Sprint(n%1000+1), at
	}
	for i := range filled.Namespaces {
		n := corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: filled.NamespaceOf(i), Labels: map[string]string{"kubernetes.io/metadata.name": filled.NamespaceOf(i)}}}
		stored(&n.ObjectMeta, i)
		namespaces.Items = append(namespaces.Items, n)
	}
	for i := range size.Nodes {
		amounts := corev1.ResourceList{
			"cpu": amount.MustParse("128"), "memory": amount.MustParse("1Ti"), "pods": amount.MustParse("110"), "nvidia.com/gpu": amount.MustParse("8"), "ephemeral-storage": amount.MustParse("1Ti"),
		}
		n := corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: filled.NodeName(i), Labels: map[string]string{
			corev1.LabelHostname: filled.NodeName(i), corev1.LabelTopologyZone: fmt.Sprintf("zone-%d", i%3), "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB", corev1.LabelInstanceTypeStable: "a100.8",
		}}}
		n.Status.Allocatable, n.Status.Capacity = amounts, amounts
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
		stored(&n.ObjectMeta, i)
		nodes.Items = append(nodes.Items, n)
		for j := range size.PodsPerNode {
			p := *filled.Pod(i, j)
			p.Namespace, p.Status.Phase = filled.NamespaceOf(i), corev1.PodRunning
			stored(&p.ObjectMeta, i*size.PodsPerNode+j)
			pods.Items = append(pods.Items, p)
		}
	}
	for i := range size.Claims {
		volume, claim := filled.Claim(i)
		stored(&volume.ObjectMeta, i)
		stored(&claim.ObjectMeta, i)
		volumes.Items, claims.Items = append(volumes.Items, *volume), append(claims.Items, *claim)
	}
	return []runtime.Object{nodes, pods, namespaces, claims, volumes}
}

// created is a sample as an API server stores it when it was created.
func created(sample map[string]any, i int, name string) map[string]any {
	now := time.Now().UTC().Format(time.RFC3339)
	job := maps.Clone(sample)
	metadata := map[string]any{}
	if labels, ok := sample["metadata"].(map[string]any)["labels"]; ok {
		metadata["labels"] = labels
	}
	owned := map[string]any{"f:spec": owned(sample["spec"])}
	if labels, ok := metadata["labels"]; ok {
		owned["f:metadata"] = map[string]any{"f:labels": ownedIn(labels.(map[string]any))}
	}
	metadata["name"], metadata["namespace"], metadata["generation"], metadata["creationTimestamp"] = name, filled.NamespaceOf(i), 1, now
	metadata["uid"] = fmt.Sprintf("7a0c3c0e-0b0f-4a52-9c53-%012d", i)
	metadata["managedFields"] = []any{map[string]any{
		"apiVersion": sample["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": owned, "manager": "kubectl-create", "operation": "Update", "time": now,
	}}
	job["metadata"] = metadata
	return job
}

// owned are the fields of a value as managers of fields name them; lists of custom resources are one field.
func owned(value any) map[string]any {
	within, ok := value.(map[string]any)
	if !ok {
		return map[string]any{}
	}
	out := ownedIn(within)
	out["."] = map[string]any{}
	return out
}

func ownedIn(within map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range within {
		out["f:"+key] = owned(value)
	}
	return out
}

// ask asks the webhook about a job, as an API server does.
func ask(client *http.Client, url, operation string, job, old map[string]any) error {
	metadata := job["metadata"].(map[string]any)
	kind := map[string]any{"group": "kubeflow.org", "version": "v1", "kind": "PyTorchJob"}
	plural := map[string]any{"group": "kubeflow.org", "version": "v1", "resource": "pytorchjobs"}
	request := map[string]any{
		"uid": metadata["uid"], "kind": kind, "resource": plural, "requestKind": kind, "requestResource": plural, "name": metadata["name"], "namespace": metadata["namespace"],
		"operation": operation, "userInfo": map[string]any{"username": "somebody", "uid": "u-1", "groups": []string{"researchers", "system:authenticated"}},
		"object": job, "oldObject": nil, "dryRun": false,
		"options": map[string]any{"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1", "fieldManager": "kubectl-create", "fieldValidation": "Strict"},
	}
	if old != nil {
		request["oldObject"] = old
	}
	body, err := json.Marshal(map[string]any{"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": request})
	if err != nil {
		return err
	}
	answer, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	var said struct {
		Response struct {
			Allowed bool   `json:"allowed"`
			UID     string `json:"uid"`
		} `json:"response"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&said); err != nil {
		return err
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	if !said.Response.Allowed || said.Response.UID == "" {
		return fmt.Errorf("%v was not admitted", metadata["name"])
	}
	return nil
}

// insecure trusts every certificate: those of this command are its own.
func insecure() *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}
}
