//go:build integration

package integration

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/signalbox-dev/signalbox/preflight"
)

// The same pods in other bytes: what the API server stores is what counts, however it was written.
var _ = Describe("An author who writes requests by hand", Ordered, ContinueOnFailure, func() {
	denied := MatchError(And(ContainSubstring("[max-gpus-per-job]"), ContainSubstring("denied the request")))
	const all = "?dryRun=All&fieldManager=signalbox&fieldValidation=Ignore"
	var api rest.Interface
	job := func(name, before, replicas, gpus string) string {
		return fmt.Sprintf(`{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{%s,"namespace":%q},%s"spec":{"pytorchReplicaSpecs":{"Worker":{%s,"restartPolicy":"Never","template":{"spec":{"containers":[{"name":"pytorch","image":"registry.example.com/t:1","resources":{"limits":{"nvidia.com/gpu":%s}}}]}}}}}}`,
			name, guardedNamespace, before, replicas, gpus)
	}

	BeforeAll(func(ctx SpecContext) {
		address := freeAddress()
		Expect(plane.Apply(ctx, rendered("local", "127.0.0.1:9443", address))).To(Succeed())
		_ = plane.CreateNamespace(ctx, guardedNamespace, map[string]string{preflight.ModeLabel: preflight.ModeEnforce}) // another spec may have made it
		_, stop := guard(address)
		DeferCleanup(stop)
		client, err := kubernetes.NewForConfig(plane.Config())
		Expect(err).NotTo(HaveOccurred())
		api = client.RESTClient()
	})

	const path = "/apis/kubeflow.org/v1/namespaces/" + guardedNamespace + "/pytorchjobs"
	const name, many, one = `"name":"raw"`, `"replicas":60`, `"replicas":1`
	for what, tc := range map[string]struct {
		body, as, verb, query, sub string
		passes, refused            bool // by the webhook, or before it was asked
	}{
		"a number twice, the larger last":                  {body: job(name, "", `"replicas":1,"replicas":60`, `"1"`)},
		"a number twice, the smaller last, which counts":   {body: job(name, "", `"replicas":60,"replicas":1`, `"1"`), passes: true},
		"a number beside one in capitals, which is pruned": {body: job(name, "", `"Replicas":60,"REPLICAS":60,"replicas":1`, `"1"`), passes: true},
		"a number beside a small one in capitals":          {body: job(name, "", `"Replicas":1,"replicas":60`, `"1"`)},
		"a spec twice":             {body: job(name, `"spec":{},`, many, `"1"`)},
		"an exponent":              {body: job(name, "", `"replicas":6e1`, `"1"`), refused: true},
		"a fraction of zero":       {body: job(name, "", `"replicas":60.0`, `"1"`), refused: true},
		"letters by their numbers": {body: job(name, "", `"\u0072eplicas":60`, `"1"`)},
		"GPUs as a number":         {body: job(name, "", one, `60`)},
		"GPUs as an exponent":      {body: job(name, "", one, `"60e0"`)},
		"GPUs in thousandths":      {body: job(name, "", one, `"60000m"`)},
		"a generated name":         {body: job(`"generateName":"raw-"`, "", many, `"1"`)},
		"marks that switch off what is the namespace's": {body: job(name+`,"labels":{"signalbox.dev/mode":"off"},"annotations":{"signalbox.dev/mode":"off","signalbox.dev/exempt":"all","signalbox.dev/ignore":"max-gpus-per-job","signalbox.dev/ignore-reason":"x"}`, "", many, `"1"`)},
		"YAML": {body: strings.ReplaceAll(job(name, "", many, `"1"`), ":", ": "), as: "application/yaml"},
		"server-side apply as the account's manager": {body: job(name, "", many, `"1"`), as: "application/apply-patch+yaml", verb: "PATCH", query: all + "&force=true"},
		"a status beside the spec":                   {body: job(name, `"status":{"conditions":[{"type":"Succeeded","status":"True"}]},`, many, `"1"`)},
		"an owner that is not there":                 {body: job(name+`,"ownerReferences":[{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","name":"x","uid":"1","controller":true},{"apiVersion":"batch/v1","kind":"CronJob","name":"y","uid":"2","controller":false}]`, "", many, `"1"`)},
		"managed fields of the account":              {body: job(name+`,"managedFields":[{"manager":"signalbox","operation":"Apply","apiVersion":"kubeflow.org/v1","time":"2099-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]`, "", many, `"1"`)},
	} {
		It(map[bool]string{false: "is denied ", true: "is let in with "}[tc.passes]+what, func(ctx SpecContext) {
			verb, at, as, query := "POST", path, "application/json", all
			if tc.verb != "" {
				verb, at, query = tc.verb, path+"/raw", tc.query
			}
			if tc.as != "" {
				as = tc.as
			}
			err := api.Verb(verb).RequestURI(at+query).SetHeader("Content-Type", as).Body([]byte(tc.body)).Do(ctx).Error()
			if tc.passes {
				Expect(err).NotTo(HaveOccurred())
				return
			}
			if tc.refused {
				Expect(err).To(MatchError(ContainSubstring("is invalid")))
				return
			}
			Expect(err).To(denied)
		})
	}

	It("is denied in the bytes of protobuf", func(ctx SpecContext) {
		config := rest.CopyConfig(plane.Config())
		config.ContentType = "application/vnd.kubernetes.protobuf"
		client, err := kubernetes.NewForConfig(config)
		Expect(err).NotTo(HaveOccurred())
		_, err = client.BatchV1().Jobs(guardedNamespace).Create(ctx, &batchv1.Job{
			ObjectMeta: metav1.ObjectMeta{Name: "raw"},
			Spec: batchv1.JobSpec{Parallelism: new(int32(60)), Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever,
				Containers: []corev1.Container{{Name: "c", Image: "registry.example.com/t:1", Resources: corev1.ResourceRequirements{
					Limits: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("1")},
				}}},
			}}},
		}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		Expect(err).To(denied)
	})

	It("is denied when two managers each write a part", func(ctx SpecContext) {
		apply := func(manager, body, force string) error {
			return api.Patch("application/apply-patch+yaml").RequestURI(path + "/two?fieldManager=" + manager + "&force=" + force).Body([]byte(body)).Do(ctx).Error()
		}
		Expect(apply("a", job(`"name":"two"`, "", one, `"1"`), "false")).To(Succeed())
		DeferCleanup(func(ctx SpecContext) {
			Expect(api.Delete().RequestURI(path + "/two").Do(ctx).Error()).To(Succeed())
		})
		Expect(apply("b", `{"apiVersion":"kubeflow.org/v1","kind":"PyTorchJob","metadata":{"name":"two"},"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":60}}}}`, "true")).To(denied)
		By("a status, which holds no spec, changes none")
		Expect(api.Patch("application/merge-patch+json").RequestURI(path + "/two/status").Body([]byte(`{"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":60}}},"status":{"conditions":[]}}`)).Do(ctx).Error()).To(Succeed())
		text, err := api.Get().RequestURI(path + "/two").DoRaw(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(text)).To(ContainSubstring(`"replicas":1`))
		Expect(string(text)).NotTo(ContainSubstring(`"replicas":60`))
	})
})
