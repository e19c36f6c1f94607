package controller_test

import (
	"context"
	goruntime "runtime"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/controller"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/signature"
)

const ownSignature = `id: own-failure
title: our own program says boom
since: "1"
category: python-exception-user-code
role: root
kinds: [log]
pattern: boom
domain: user
retry: useless
proves: boom
doesNotProve: why
remedy: stop
`

func TestSignaturesOfConfigMapsJoinAndABrokenOneIsLeftOut(t *testing.T) {
	base, err := signature.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	live := signature.NewLive(base)
	labels := map[string]string{controller.SignatureLabel: "true"}
	good := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "team", Namespace: "signalbox-system", Labels: labels}, Data: map[string]string{"own-failure.yaml": ownSignature}}
	kube := fake.NewClientset(good)
	patched := make(chan string, 8)
	kube.PrependReactor("patch", "configmaps", func(a k8stesting.Action) (bool, runtime.Object, error) {
		patched <- string(a.(k8stesting.PatchAction).GetPatch())
		return false, nil, nil
	})
	maps, err := controller.NewSignatureMaps(kube, "signalbox-system", base, live, nil, logr.Discard())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- maps.Start(ctx) }()
	for live.Catalog().ByID("own-failure") == nil { // the test's deadline bounds it
		goruntime.Gosched()
	}

	broken := good.DeepCopy()
	broken.Data["second.yaml"] = strings.Replace(ownSignature, "role: root", "role: boss", 1)
	broken.Data["third-failure.yaml"] = strings.NewReplacer("own-failure", "third-failure", "boom", "bang").Replace(ownSignature)
	if _, err := kube.CoreV1().ConfigMaps("signalbox-system").Update(ctx, broken, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if said := <-patched; !strings.Contains(said, controller.SignatureErrorAnnotation) || !strings.Contains(said, `role \"boss\"`) {
		t.Errorf("the ConfigMap says %s; want the reason", said)
	}
	if !strings.Contains(maps.Broken(), "team/second.yaml") {
		t.Errorf("broken: %q; want the file's name", maps.Broken())
	}
	if live.Catalog().ByID("own-failure") == nil || live.Catalog().ByID("third-failure") == nil {
		t.Error("what is not broken is not in force")
	}
	// One that was good stays as it was.
	worse := good.DeepCopy()
	worse.Data["own-failure.yaml"] = strings.Replace(ownSignature, "pattern: boom", "pattern: (boom", 1)
	if _, err := kube.CoreV1().ConfigMaps("signalbox-system").Update(ctx, worse, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for said := ""; !strings.Contains(said, "own-failure.yaml"); said = <-patched {
	}
	if own := live.Catalog().ByID("own-failure"); own == nil || own.Pattern != "boom" || live.Catalog().ByID("third-failure") != nil {
		t.Errorf("a signature that was good and is broken now is %+v", own)
	}
	repaired := good.DeepCopy()
	repaired.Annotations = map[string]string{controller.SignatureErrorAnnotation: "old"}
	if _, err := kube.CoreV1().ConfigMaps("signalbox-system").Update(ctx, repaired, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	for said := ""; !strings.Contains(said, "null"); said = <-patched { // until the error is taken away
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
