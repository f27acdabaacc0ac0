# Two commands do everything on a fresh machine: make run, make test.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
FUZZTIME    ?= 1s
TOOLS       := $(CURDIR)/.tools
VENV        := $(TOOLS)/venv
GOLDEN_LOG  := $(TOOLS)/golden.log

export POISE_GOLDEN_LOG := $(GOLDEN_LOG)
export POISE_PYTHON     := $(VENV)/bin/python
export POISE_CLIENTS    := $(TOOLS)/clients

.NOTPARALLEL:
.PHONY: run build test setup format vet unit race fuzz examples studio studio-check browser golden soak bench bench-peers oracle mutate images clean

run: build
	./bin/poise serve $(ARGS)

build:
	CGO_ENABLED=0 $(GO) build -trimpath -o bin/poise ./cmd/poise

test: setup format vet studio-check unit race fuzz examples browser golden

setup:
	@tools/setup.sh $(VENV)
	@tools/clients/setup.sh $(TOOLS)/clients

format:
	@out=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$out" ]; then echo "gofmt wants to change:"; echo "$$out"; exit 1; fi

vet: build
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

# packages whose tests have real clocks, programs and clients in them: one at a time,
# so that nothing else takes the processor from a running robot
LIVE := $(addprefix poise/,server wire/% cmd/% executive loop/runner)
QUIET = $(filter-out $(LIVE),$(shell $(GO) list ./...))
ALIVE = $(filter $(LIVE),$(shell $(GO) list ./...))

unit:
	@mkdir -p $(TOOLS) && : > $(GOLDEN_LOG)
	$(GO) test -count=1 $(QUIET)
	$(GO) test -count=1 -p 1 $(ALIVE)

# the race detector slows a test tenfold: short variants, not counted again, and only
# where goroutines meet; of the planner the test that has them, and none of those whose
# goroutines only spread a test over all cores
SPREAD := $(addprefix poise/,planner/smooth internal/libm trajectory/move)
RACED  = $(filter-out $(SPREAD),$(shell tools/goroutines.sh))
race:
	POISE_GOLDEN_LOG= $(GO) test -race -short -count=1 $(filter $(RACED),$(QUIET))
	POISE_GOLDEN_LOG= $(GO) test -race -short -count=1 -run ConcurrentUse poise/planner/smooth
	POISE_GOLDEN_LOG= $(GO) test -race -short -count=1 -p 1 $(filter $(RACED),$(ALIVE))

fuzz:
	@POISE_GOLDEN_LOG= tools/fuzz.sh $(FUZZTIME)

# programs run, requests are planned, scenarios are played; what drives a server is
# run by cmd/poise TestExamplesThatDriveAServer
examples: build
	@for d in examples/01-load examples/02-controller; do echo "example: $$d"; $(GO) run ./$$d > /dev/null || exit 1; done
	@for f in examples/plan/*.json examples/plan/*.yaml; do echo "example: $$f"; ./bin/poise plan arm6 $$f > /dev/null; \
	case $$f:$$? in *out_of_reach*:1) ;; *out_of_reach*:*) exit 1 ;; *:0) ;; *) exit 1 ;; esac; done
	@for f in examples/arbitrate/*.yaml; do echo "example: $$f"; ./bin/poise arbitrate $$f > /dev/null || exit 1; done

# the page, built into studio/dist, which is committed
studio: studio/node_modules/.installed
	cd studio && npm run --silent build

studio/node_modules/.installed: studio/package-lock.json
	cd studio && npm ci --silent --no-audit --no-fund
	@touch $@

studio-check: studio
	@if [ -n "$$(git status --porcelain -- studio/dist)" ]; then git status --short -- studio/dist; echo "studio/dist differs from what its sources give: commit what make studio built"; exit 1; fi

# a real browser on the real binary;
# a browser that draws in software on a busy machine may be late once
browser: build studio/node_modules/.installed
	@POISE=$(CURDIR)/bin/poise tools/browser.sh

golden:
	@tools/golden.sh $(GOLDEN_LOG)

# what takes long: random runs by the hundred million, lateness over minutes
soak:
	POISE_SOAK=1 $(GO) test -count=1 -timeout 12h -v -run 'Soak|Random|Explor|Property' ./...

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-peers:
	tools/peers/run.sh
	tools/peers/ruckig.sh

oracle: build setup
	$(POISE_PYTHON) -m pip install -q -r tools/oracle/requirements-dynamics.txt
	$(POISE_PYTHON) tools/oracle/dynamics.py --poise bin/poise

mutate:
	$(GO) run ./tools/mutate

# pictures of the robots in docs/images, drawn by a browser
images:
	cd tools/render && npm ci && npm run images

clean:
	rm -rf bin $(TOOLS)
