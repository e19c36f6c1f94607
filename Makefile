# `make` prints this list. Two targets do everything on a machine with Go, git and make:
# `make demo` and `make test`.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
GO      ?= go
LDFLAGS := -s -w -X github.com/signalbox-dev/signalbox/cmd/signalbox/internal/build.Version=$(VERSION)
# One setting for everything but the race detector: what one target has compiled, the others reuse.
export CGO_ENABLED := 0
BUILD    = $(GO) build -ldflags '$(LDFLAGS)' -o bin/signalbox ./cmd/signalbox
ONCE    ?=

UNIT        := ./cmd/... ./webhook/... ./preflight/... ./policies/... ./runtime-diagnose/... ./config/... ./certs/... ./test/...
# Packages that do things at the same time; a test holds the list to the code.
CONCURRENT  := ./certs/... ./cmd/... ./config/... ./policies/... ./preflight ./preflight/check ./preflight/checks/... ./preflight/cluster/... ./preflight/fit/internal/assign ./preflight/kinds ./preflight/podspec \
	./runtime-diagnose/capture ./runtime-diagnose/collect ./runtime-diagnose/controller ./runtime-diagnose/explain ./runtime-diagnose/keep ./runtime-diagnose/lazy \
	./runtime-diagnose/llm ./runtime-diagnose/logscan ./runtime-diagnose/notify ./runtime-diagnose/redact ./runtime-diagnose/reduce ./runtime-diagnose/report \
	./runtime-diagnose/signature ./runtime-diagnose/tokens ./webhook/...
INTEGRATION := ./test/cluster/... ./test/integration/... ./test/e2e/... ./test/demo/...

.PHONY: help
help: ## this list
	@bold='' plain=''; if [ -t 1 ] && [ -z "$${NO_COLOR:-}" ]; then bold='\033[1m' plain='\033[0m'; fi; \
	grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' -v bold="$$bold" -v plain="$$plain" '{printf "  %s%-14s%s %s\n", bold, $$1, plain, $$2}'

.PHONY: build
build: ## bin/signalbox, static
	@mkdir -p bin
	@$(BUILD)
	@ln -sf signalbox bin/kubectl-signalbox

.PHONY: controlplane
controlplane: ## the programs that the demo and the tests start, into bin/controlplane (once: about 12 minutes)
	@$(GO) run ./test/controlplane/build

.PHONY: prometheus
prometheus: ## the Prometheus that one integration test asks, into bin/controlplane (once: about 3 minutes)
	@$(GO) run ./test/controlplane/build prometheus

.PHONY: gatekeeper
gatekeeper: ## the Gatekeeper that the load is measured beside, into bin/controlplane (once: about 3 minutes)
	@$(GO) run ./test/controlplane/build gatekeeper

.PHONY: demo
demo: ## the whole line on a real control plane, and offline scenes while that is built; ONCE=1 ends by itself
	@mkdir -p bin
	@[ -x bin/signalbox ] || echo "Built once, on two cores: a first scene in about a minute, signalbox in 4, the control plane in 12 more."
	@$(GO) run ./test/demo/first $(BUILD)
	@ln -sf signalbox bin/kubectl-signalbox
	@GO='$(GO)' test/demo/offline.sh
	@$(GO) build -o bin/demo ./test/demo
	@bin/demo $(if $(ONCE),--once)

.PHONY: test
test: controlplane prometheus build bin/tools/helm bin/tools/promtool ## everything: unit, command line, the race detector over what runs at the same time, pages in a browser where there is one, integration, end to end
	@$(GO) run ./test/summary -- $(GO) test -shuffle=on $(UNIT)
	@CGO_ENABLED=1 $(GO) run ./test/summary -- $(GO) test -race -short -shuffle=on -timeout 25m $(CONCURRENT)
	@$(MAKE) --no-print-directory browser
	@$(GO) run ./test/summary -- $(GO) test -tags integration -shuffle=on -timeout 25m -p 1 $(INTEGRATION)

.PHONY: test-release
test-release: ## images and archives: two builds are one, and an image runs from its layers (compiles everything anew)
	@cd test/tools/release && $(GO) test -timeout 25m ./...

# GOGC: what a test leaves behind is seldom worth collecting while it runs.
.PHONY: test-unit
test-unit: ## the fast half, of what has changed since it passed: no control plane, no race detector
	@GOGC=400 $(GO) run ./test/summary -- $(GO) test $(UNIT)

.PHONY: race
race: ## unit tests under the race detector
	@CGO_ENABLED=1 $(GO) run ./test/summary -- $(GO) test -race -shuffle=on -timeout 25m $(UNIT)

.PHONY: e2e
e2e: controlplane prometheus build bin/tools/helm ## only the tests that need the control plane
	@$(GO) run ./test/summary -- $(GO) test -tags integration -shuffle=on -timeout 25m -p 1 $(INTEGRATION)

.PHONY: browser
browser: ## opens the pages of -o html and of the board in Chromium, where there is one: errors, width, axe, keyboard, pictures, time
	@cd test/browser && $(GO) test -count=1 -v ./... | grep -vE '^(=== )'; exit $${PIPESTATUS[0]}

.PHONY: compat
compat: controlplane prometheus build bin/tools/helm ## the integration tests on API servers of two older minor versions (once: about 8 minutes to build them; COMPAT='-ginkgo.focus chart': some of the tests)
	@$(GO) run ./test/controlplane/build kube-apiserver-1.35 kube-apiserver-1.34
	@for minor in 1.35 1.34; do echo "Kubernetes $$minor"; \
		SIGNALBOX_TEST_KUBERNETES=$$minor $(GO) run ./test/summary -- $(GO) test -tags integration -timeout 25m ./test/integration $(COMPAT) || exit 1; done

.PHONY: chaos
chaos: controlplane prometheus build ## breaks replicas, the API server, etcd, the lease, caches, clocks, disks, memory and policies while jobs are created, and makes each alert fire (CHAOS='-ginkgo.focus "both replicas"': one of them)
	@$(GO) test -tags chaos -count=1 -timeout 60m -v ./test/chaos $(CHAOS)

.PHONY: fuzz
FUZZTIME ?= 10s
fuzz: ## every fuzz target for FUZZTIME (10s)
	@$(GO) list -f '{{range .TestGoFiles}}{{$$.Dir}}/{{.}}{{"\n"}}{{end}}{{range .XTestGoFiles}}{{$$.Dir}}/{{.}}{{"\n"}}{{end}}' $(UNIT) \
	  | xargs grep -oHE '^func Fuzz[A-Za-z0-9_]+' | sed -E 's/^(.*)\/[^\/]+:func /\1 /' | sort -u \
	  | { failed=0; while read -r dir target; do echo "$$target in $${dir#$(CURDIR)/}"; $(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$dir" | tail -1 || failed=1; done; exit $$failed; }

.PHONY: quality
quality: ## diagnoses every labelled case there is and prints how often cause, line and pod are right, and what each feature and rule is worth, by origin (QUALITY=-misses lists what is wrong instead)
	@$(GO) run ./test/quality $(QUALITY); reached=$$?; [ -n "$(QUALITY)" ] || $(GO) run ./test/quality -ablate; exit $$reached

.PHONY: weights
weights: ## fits the points by which a cause is chosen to all labelled cases but those held out, prints what they are worth on other sources, and writes runtime-diagnose/attribute/weights.go
	@$(GO) run ./test/quality -precedence
	@$(GO) run ./test/quality -fit -write

.PHONY: gangs
gangs: ## runs 207 real gangs with a fault in one member each and records them in bin/gangs (root, python3-torch, python3-mpi4py, openmpi-bin, libopenmpi-dev, python3-xgboost); then scores them
	@$(GO) run ./test/gangs -out bin/gangs $(GANGS)
	@if [ -d bin/gangs ]; then $(GO) run ./test/quality bin/gangs || true; fi

.PHONY: bench-logs
bench-logs: ## how fast logs are read with all signatures, beside ripgrep; memory on an endless log
	@$(GO) run ./test/logbench

.PHONY: eval-explain
eval-explain: ## what models write about finished diagnoses: how much of it is shown, how much apart as unsupported, and that nothing wrong is shown as supported
	@$(GO) test -count=1 -run '^(TestEvaluation[A-Za-z]*|TestAnswersAboutBundles)$$' -v ./runtime-diagnose/ground ./runtime-diagnose/explain | grep -vE '^(=== |--- |PASS|ok )' ; exit $${PIPESTATUS[0]}

.PHONY: corpus-prompt
corpus-prompt: ## in how many labelled cases the question to a model holds the decisive line, in 6,000 and in 2,000 tokens (PROMPT=-misses lists the others)
	@$(GO) run ./test/quality -prompt $(PROMPT)

.PHONY: faults
FAULTS_SEED ?= 1
faults: ## injects every fault into simulated gangs of 8 to 1,024 ranks and prints how often the first pod is named
	@SIGNALBOX_FAULTS=$(FAULTS_SEED) $(GO) test -count=1 -timeout 20m -run '^TestFaults$$' -v ./test/faults | grep -vE '^(=== |--- |PASS|ok )' ; exit $${PIPESTATUS[0]}

.PHONY: bench
bench: ## all benchmarks
	@$(GO) test -run '^$$' -bench . -benchmem $(UNIT) | grep -E '^(Benchmark|cpu:|pkg:)'

.PHONY: corpus-manifests
MANIFESTS ?= ../shared/corpus/manifests
corpus-manifests: ## how often the checks are right about real manifests: MANIFESTS=folder with dev/ and LABELS.tsv
	@$(GO) run ./test/manifests -dir $(MANIFESTS)

.PHONY: bench-diagnose
bench-diagnose: build controlplane ## from the end of a gang of 512 to the annotation, and a thousand pods in a shell
	@$(GO) run ./test/bench/diagnose $(BENCH)

N    ?= 10000
SEED ?= 1

.PHONY: parity
parity: ## the fit against the real kube-scheduler, in process: N=10000 scenarios of SEED=1, and all jobs and clusters there are
	@cd test/schedparity && $(GO) run . -n $(N) -seed $(SEED) || { echo "repeat one with: cd test/schedparity && go run . -only <scenario>" >&2; exit 1; }

.PHONY: parity-kueue
parity-kueue: ## what is said of Kueue's quotas against Kueue itself, in process: N=10000 scenarios of SEED=1
	@cd test/queueparity && $(GO) run . -n $(N) -seed $(SEED) || { echo "repeat one with: cd test/queueparity && go run . -only <scenario>" >&2; exit 1; }

.PHONY: bench-review
bench-review: build ## how long a review takes, beside what is promised
	@$(GO) run ./test/reviewbench

.PHONY: bench-policies
bench-policies: bin/tools/gator ## what 100 policies cost on a job of 64 roles, beside Gatekeeper's gator bench on the same rules, into docs/benchmarks-policies.md
	@GOMAXPROCS=2 $(GO) run ./test/bench/policies -page docs/benchmarks-policies.md $(BENCH)

.PHONY: bench-fairness
bench-fairness: ## what one user with slow jobs costs the reviews of all others, beside what is promised
	@GOMAXPROCS=2 $(GO) run ./test/bench/fairness

.PHONY: bench-webhook
bench-webhook: build controlplane gatekeeper ## what creating jobs costs without a webhook, with Gatekeeper and with Signalbox, on a real API server with 5,000 nodes and 100,000 pods, into docs/benchmarks-webhook.md (BENCH=-cpuprofile=FILE: where the time goes)
	@$(GO) run ./test/bench/admission -page docs/benchmarks-webhook.md $(BENCH)

# One run of each benchmark is noise; benchstat wants six for a median it can vouch for.
BENCHCOUNT ?= 6
BENCHTIME  ?= 200x
BENCHDIR   := bin/bench
MEASURED   := { date -u '+date: %Y-%m-%d'; git rev-parse --short=9 HEAD | sed 's/^/commit: /'; uptime | sed 's/.*load average/load-average/'; }

.PHONY: bench-fit
bench-fit: bin/tools/benchstat ## what the fit and the view cost, on 2 cores, into docs/benchmarks.md
	@mkdir -p $(BENCHDIR)
	@$(MEASURED) > $(BENCHDIR)/fit.txt
	@GOMAXPROCS=2 $(GO) test -run '^$$' -bench '^Benchmark(Fit|Difference|Tied|Adversary|Events|Claims|Million)$$' -benchtime $(BENCHTIME) -count $(BENCHCOUNT) -timeout 60m ./preflight/fit ./webhook >> $(BENCHDIR)/fit.txt || { cat $(BENCHDIR)/fit.txt; exit 1; }
	@$(MAKE) --no-print-directory bench-snapshot

BASE   ?= d41a76c
ROUNDS ?= 6

.PHONY: bench-against
bench-against: bin/tools/benchstat ## the page's answers beside those of an earlier program, in turn in one run: BASE=commit
	@set -e; new=$$PWD; here=$$PWD/$(BENCHDIR)/against; old=$$(mktemp -d); rm -rf $$here; mkdir -p $$here; \
	trap 'git worktree remove --force '$$old EXIT; git worktree add -q --detach $$old $(BASE); \
	of() { if [ -d $$1/preflight/fit ]; then echo $$1/preflight/fit; else echo $$1/preflight/capacity; fi; }; \
	for side in old new; do eval dir=\$$$$side; (cd $$(of $$dir) && $(GO) test -c -o $$here/$$side.test .); done; \
	for round in $$(seq $(ROUNDS)); do for side in old new; do eval dir=\$$$$side; \
	(cd $$(of $$dir) && GOMAXPROCS=2 $$here/$$side.test -test.run '^$$' -test.bench '^Benchmark(Fit|Difference|Tied)$$' -test.benchtime $(BENCHTIME) >> $$here/$$side.txt); done; done; \
	bin/tools/benchstat -ignore pkg -filter '.unit:p50-ns' old=$$here/old.txt new=$$here/new.txt | tee $$here/stat.txt

.PHONY: bench-snapshot
bench-snapshot: bin/tools/benchstat ## what a snapshot of 5,000 nodes and 100,000 pods takes on disk, and writing and reading it
	@mkdir -p $(BENCHDIR)
	@$(MEASURED) > $(BENCHDIR)/snapshot.txt
	@GOMAXPROCS=2 $(GO) test -run '^$$' -bench '^BenchmarkSnapshot$$' -benchtime 1x -count $(BENCHCOUNT) -timeout 60m ./preflight/manifest >> $(BENCHDIR)/snapshot.txt || { cat $(BENCHDIR)/snapshot.txt; exit 1; }
	@$(MAKE) --no-print-directory bench-page

.PHONY: bench-live
bench-live: bin/tools/benchstat ## the view of a real API server with 5,000 nodes and 100,000 pods; needs make controlplane
	@mkdir -p $(BENCHDIR)
	@$(MEASURED) > $(BENCHDIR)/live.txt
	@GOMAXPROCS=2 $(GO) test -tags integration -run '^$$' -bench '^BenchmarkLive$$' -benchtime 1x -timeout 60m -v ./test/bench | tee -a $(BENCHDIR)/live.txt
	@$(MAKE) --no-print-directory bench-page

.PHONY: bench-page
bench-page: bin/tools/benchstat ## docs/benchmarks.md from the last runs; what they did not measure stays
	@cat $$(ls $(BENCHDIR)/*.txt) > $(BENCHDIR)/all
	@bin/tools/benchstat -format csv $(BENCHDIR)/all 2>/dev/null > $(BENCHDIR)/all.csv
	@$(GO) run ./test/bench/page docs/benchmarks.md < $(BENCHDIR)/all.csv > $(BENCHDIR)/page.md
	@cp $(BENCHDIR)/page.md docs/benchmarks.md
	@echo "docs/benchmarks.md is what the last runs showed"

# tool builds a program that the project uses, said in minutes, with flags, of a package. It gets its name when it is
# whole: what a build that was interrupted leaves behind is never taken for it.
define tool
	@echo "building $(@F) (once: about $(1))" >&2
	@mkdir -p bin/tools
	@cd $(<D) && $(GO) build $(2) -o ../../../$@.new $(3)
	@mv $@.new $@
endef

bin/tools/benchstat: test/tools/benchstat/go.mod
	$(call tool,20 seconds,-ldflags '-s -w',golang.org/x/perf/cmd/benchstat)

# Modules are listed before they are read: the linter's cache does not notice a sum that go.sum lacks.
.PHONY: lint
lint: bin/tools/golangci-lint lint-rego ## golangci-lint with the project's rules, and Regal on the policies
	@bin/tools/golangci-lint run --build-tags integration ./...
	@for module in schedparity queueparity; do (cd test/$$module && $(GO) list -deps -test ./... > /dev/null && ../../bin/tools/golangci-lint run -c ../../.golangci.yaml ./...) || exit 1; done

.PHONY: lint-rego
lint-rego: bin/tools/regal ## Regal on the library of policies
	@bin/tools/regal lint --config-file policies/.regal.yaml policies/library

bin/tools/regal: test/tools/regal/go.mod
	$(call tool,2 minutes,-trimpath -ldflags '-s -w',github.com/open-policy-agent/regal)

bin/tools/gator: test/tools/gator/go.mod
	$(call tool,3 minutes,-trimpath -ldflags '-s -w',github.com/open-policy-agent/gatekeeper/v3/cmd/gator)

bin/tools/golangci-lint: test/tools/golangci-lint/go.mod
	$(call tool,5 minutes,-ldflags '-s -w',github.com/golangci/golangci-lint/v2/cmd/golangci-lint)

bin/tools/promtool: test/tools/promtool/go.mod
	$(call tool,4 minutes,-trimpath -tags remove_all_sd -ldflags '-s -w',github.com/prometheus/prometheus/cmd/promtool)

# Built outside its own repository helm takes itself for one of Kubernetes 1.20, and refuses charts for newer ones.
HELMVERSION := -X helm.sh/helm/v3/internal/version.version=v3.22.0 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=36

bin/tools/helm: test/tools/helm/go.mod
	$(call tool,2 minutes,-trimpath -ldflags '-s -w $(HELMVERSION)',helm.sh/helm/v3/cmd/helm)

.PHONY: generate
generate: ## lists, manifests and reference pages that are made from code
	@$(GO) generate $$($(GO) list ./... | grep -v '/test/chart$$')
	@$(GO) generate ./test/chart # from the manifests that the webhook's generator writes
	@$(MAKE) --no-print-directory docs pictures

.PHONY: docs
docs: build ## docs/reference from the literals the code runs
	@mkdir -p docs/reference
	@for what in checks kinds signatures rules categories policies metrics words annotations exit-codes settings flags; do bin/signalbox list $$what -o md > docs/reference/$$what.md; done

.PHONY: pictures
pictures: ## the pictures of the README, drawn from what the commands print
	@$(GO) test -count=1 -run '^TestThePicturesShowWhatIsPrinted$$' ./cmd/signalbox -update && ls docs/pictures

.PHONY: verify
verify: generate lint test ## what CI runs: generated files are current, lint, all tests
	@git diff --exit-code -- . ':!go.sum' || { echo "generated files differ; commit what 'make generate' wrote" >&2; exit 1; }

# No image of Signalbox is published, so there is none to fall back on.
IMAGE ?=
NAMED  = [ -n '$(IMAGE)' ] || { printf '%s\n' 'make $@ needs IMAGE: none is published, so name one in a registry of yours that the cluster pulls from.' \
	'  make push IMAGE=registry.example/signalbox:$(VERSION)' \
	'  make install IMAGE=registry.example/signalbox:$(VERSION)' \
	'Without a registry, make images writes an OCI layout into dist/images for skopeo and ctr images import.' >&2; exit 2; }

.PHONY: images
images: ## container images for amd64 and arm64, made without a container engine, in dist/images
	@cd test/tools/release && $(GO) run . images -version '$(VERSION)' -out ../../../dist/images

.PHONY: push
push: ## the same into a registry, with what each is made of: IMAGE=registry.example/signalbox:0.1.0
	@$(NAMED)
	@cd test/tools/release && $(GO) run . images -version '$(VERSION)' -push '$(IMAGE)'

.PHONY: release-dry-run
release-dry-run: images ## what a release publishes, in dist: images, archives, checksums, SBOMs, krew's manifest; nothing is published
	@cd test/tools/release && $(GO) run . archives -version '$(VERSION)' -out ../../../dist/archives
	@cd dist/archives && sha256sum --check --quiet SHA256SUMS && ls -1

.PHONY: install
CERTS ?= default
install: ## Signalbox into the cluster of the current kubeconfig: IMAGE=registry.example/signalbox:0.1.0 [CERTS=cert-manager]
	@$(NAMED)
	@[[ '$(CERTS)' != *cert-manager* ]] || kubectl get crd certificates.cert-manager.io issuers.cert-manager.io -o name >/dev/null || \
	  { echo 'make install CERTS=$(CERTS) needs cert-manager in the cluster; nothing was applied. Without it: make install IMAGE=$(IMAGE)' >&2; exit 2; }
	kubectl kustomize config/$(CERTS) | sed 's|image: ""$$|image: $(IMAGE)|' | kubectl apply -f -

.PHONY: uninstall
uninstall: ## and out again; the namespace stays, with your policies, signatures and prompts
	kubectl delete --ignore-not-found -k config/$(CERTS) -l '!pod-security.kubernetes.io/enforce'
	@echo 'namespace signalbox-system stays, with the ConfigMaps of your policies, signatures and prompts: kubectl delete namespace signalbox-system'

NEW = [ -n '$(NAME)' ] || { echo 'make $@ needs NAME: make $@ NAME=$(1)' >&2; exit 2; }

.PHONY: new-kind new-check new-signature new-policy
new-kind: ## a reader from a template: NAME=AppWrapper GROUP=workload.codeflare.dev VERSION=v1beta2
	@$(call NEW,AppWrapper GROUP=workload.codeflare.dev VERSION=v1beta2)
	@cd preflight/kinds && $(GO) run new.go $(if $(GROUP),-group $(GROUP)) $(if $(VERSION),-version $(VERSION)) $(NAME)
new-check: ## a check from a template: NAME=resources/gpu-request-exceeds-node
	@$(call NEW,resources/gpu-request-exceeds-node)
	@cd preflight/checks && $(GO) run new.go $(NAME)
new-signature: ## a signature from a template: NAME=nccl-ring-broken
	@$(call NEW,nccl-ring-broken)
	@$(GO) run runtime-diagnose/signature/new.go $(NAME)
new-policy: ## a policy from a template: NAME=team-label-known
	@$(call NEW,team-label-known)
	@$(GO) run ./cmd/signalbox policy new $(NAME) --dir policies/library

.PHONY: clean
clean: ## what was built, but not the control plane
	@rm -rf bin/signalbox bin/kubectl-signalbox bin/demo
