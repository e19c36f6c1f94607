package controller

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubefake "k8s.io/client-go/kubernetes/fake"

	"github.com/signalbox-dev/signalbox/config"
	"github.com/signalbox-dev/signalbox/runtime-diagnose/prompt"
)

// A prompt that is written, changed or taken away counts at the next question; nothing is started anew.
func TestAPromptIsReadAnew(t *testing.T) {
	c := config.Default()
	if c.Prompts.ConfigMap != "aegis-prompts" || c.Prompts.Dir != "/aegis/prompts" {
		t.Errorf("prompts come from %+v; want those of Aegis' manual", c.Prompts)
	}
	kube := kubefake.NewClientset()
	sources := Prompts{Namespace: c.Namespace, ConfigMap: c.Prompts.ConfigMap, Dir: t.TempDir()}.Sources(kube)
	builtIn := prompt.Builtin(nil, "")
	asks := func() string {
		got, err := prompt.Choose(t.Context(), "PyTorchJob", builtIn, sources...)
		if err != nil {
			t.Fatal(err)
		}
		return got.Source()
	}
	builtin := builtIn.Source()
	if got := asks(); got != builtin {
		t.Errorf("without a ConfigMap %q is asked", got)
	}
	maps := kube.CoreV1().ConfigMaps(c.Namespace)
	cm := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: c.Prompts.ConfigMap}, Data: map[string]string{"pytorchjob.tmpl": "one"}}
	if _, err := maps.Create(t.Context(), cm, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := asks(); got != "one" {
		t.Errorf("with a ConfigMap %q is asked", got)
	}
	cm.Data["pytorchjob.tmpl"] = "two"
	if _, err := maps.Update(t.Context(), cm, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := asks(); got != "two" {
		t.Errorf("with another one %q is asked", got)
	}
	if err := maps.Delete(t.Context(), cm.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if got := asks(); got != builtin {
		t.Errorf("without it %q is asked", got)
	}
}
