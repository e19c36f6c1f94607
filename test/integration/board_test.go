//go:build integration

package integration

import (
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const jobOfTheBoard = `apiVersion: batch/v1
kind: Job
metadata: {name: shown, namespace: board}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: "registry.example.com/train:1"}]
`

// The board and the tools read a real cluster with the rights of the kubeconfig.
var _ = Describe("who looks at many jobs", Ordered, func() {
	var program string
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+plane.Kubeconfig())
		return cmd
	}

	BeforeAll(func(ctx SpecContext) {
		var err error
		program, err = gexec.Build("github.com/signalbox-dev/signalbox/cmd/signalbox")
		Expect(err).NotTo(HaveOccurred())
		_, err = plane.Clientset().CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "board"}}, metav1.CreateOptions{})
		Expect(err).NotTo(HaveOccurred())
		Expect(plane.Apply(ctx, jobOfTheBoard)).To(Succeed())
	})

	It("sees them in a browser, each with its diagnosis, and the nodes", func(ctx SpecContext) {
		session, err := gexec.Start(command("board", "--listen", "127.0.0.1:0"), GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { session.Kill().Wait() })
		Eventually(session.Err).Should(gbytes.Say(`open http://`))
		address := regexp.MustCompile(`http://\S+`).FindString(string(session.Err.Contents()))
		jar, err := cookiejar.New(nil)
		Expect(err).NotTo(HaveOccurred())
		page := func(address string) string {
			GinkgoHelper()
			request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
			Expect(err).NotTo(HaveOccurred())
			answer, err := (&http.Client{Jar: jar}).Do(request)
			Expect(err).NotTo(HaveOccurred())
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			Expect(err).NotTo(HaveOccurred())
			Expect(answer.StatusCode).To(Equal(http.StatusOK), string(text))
			return string(text)
		}
		root, _, _ := strings.Cut(address, "/?key=")
		Expect(page(address)).To(ContainSubstring(`<a href="/jobs/Job/board/shown">Job shown</a>`))
		Expect(page(root + "/jobs/Job/board/shown")).To(ContainSubstring("Job board/shown"))
		Expect(page(root + "/nodes")).To(ContainSubstring("<h1"))
		Expect(page(root + "/checks")).To(ContainSubstring("What became of what the checks said"))
	})

	It("asks with tools, as who the kubeconfig says", func() {
		for as, want := range map[string]string{"": `\"name\":\"shown\"`, "--as=nobody": "you may not list"} {
			args := []string{"mcp"}
			if as != "" {
				args = append(args, as)
			}
			cmd := command(args...)
			in, err := cmd.StdinPipe()
			Expect(err).NotTo(HaveOccurred())
			session, err := gexec.Start(cmd, GinkgoWriter, GinkgoWriter)
			Expect(err).NotTo(HaveOccurred())
			_, err = io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"list_jobs","arguments":{"namespace":"board"}}}
`)
			Expect(err).NotTo(HaveOccurred())
			Eventually(session.Out).Should(gbytes.Say(regexp.QuoteMeta(want)))
			Expect(in.Close()).To(Succeed())
			Eventually(session).Should(gexec.Exit(0))
		}
	})
})
