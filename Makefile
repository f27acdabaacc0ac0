# Two commands do everything on a fresh machine: make run, make test.
# make check is the long rest of the tests; .ci/run runs both.

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEADCODE    := golang.org/x/tools/cmd/deadcode@v0.45.0
FUZZTIME    ?= 1s
TOOLS       := $(CURDIR)/.tools
VENV        := $(TOOLS)/venv
GOLDEN_LOG  := $(TOOLS)/golden.log

export POISE_GOLDEN_LOG := $(GOLDEN_LOG)
export POISE_PYTHON     := $(VENV)/bin/python
export POISE_CLIENTS    := $(TOOLS)/clients

.NOTPARALLEL:
.PHONY: help run build ros1 ros2 ros2-rust bench-ros1 bench-ros2 test check setup format vet staticcheck deadcode docs unit live race fuzz examples studio studio-check smoke browser golden soak bench bench-attacks bench-studio bench-peers oracle judge arm mutate passes images clean

run: build ## build, start the virtual robot, its graph and the Studio
	./bin/poise serve $(ARGS)

test: ## the tests: minutes
	@tools/steps.sh test setup format build vet studio-check unit live examples smoke golden

check: ## the rest of the tests: race detector, fuzzing, all browser tests
	@tools/steps.sh check setup build staticcheck deadcode race fuzz judge ros1+ros2+ros2-rust+arm browser

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 14

setup: ## compiler, Python, Node, browser, clients; what is there is kept
	@tools/setup.sh $(VENV)
	@tools/clients/setup.sh $(TOOLS)/clients

docs: ## the tables of docs/ that follow from the code
	@$(GO) run ./tools/docs
	@$(GO) run ./cmd/poise help --markdown > docs/cli.md

build: ## bin/poise
	@CGO_ENABLED=0 $(GO) build -trimpath -o bin/poise ./cmd/poise

format: ## gofmt has nothing to change
	@out=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	if [ -n "$$out" ]; then echo "gofmt wants to change:"; echo "$$out"; exit 1; fi

vet: ## go vet
	@$(GO) vet ./...

staticcheck: ## staticcheck
	@$(GO) run $(STATICCHECK) ./...

deadcode: ## every function is reached, or tools/deadcode.allowed says why it stays
	@tools/deadcode.sh $(GO) run $(DEADCODE)

# packages whose tests have running robots, programs and clients in them, and wait for these
LIVE := $(addprefix poise/,server wire/% cmd/% executive loop/runner)
# those that take longest come first: none of them is left alone on one processor at the end
LONG := $(addprefix poise/,cmd/poise server sim/scenario servo/bus loop)
ALL   = $(LONG) $(filter-out $(LONG),$(shell $(GO) list ./...))
QUIET = $(filter-out $(LIVE),$(ALL))
ALIVE = $(filter $(LIVE),$(ALL))
# go vet is a step of its own
TEST  = $(GO) test -vet=off -count=1 -timeout 30m

unit: ## go test of packages that need no running robot, in parallel
	@mkdir -p $(TOOLS) && : > $(GOLDEN_LOG)
	@$(TEST) $(QUIET)

live: ## go test of packages with running robots, programs and real clients, many tests side by side
	@$(TEST) -parallel 6 $(ALIVE)

# the race detector slows a test tenfold: short variants, not counted again, and only
# where goroutines meet; of the cycle, of the planner and of identification the tests that have
# them, and none of those whose goroutines only spread a test over all cores
SPREAD := $(addprefix poise/,loop planner/smooth trajectory/move identify)
RACED  = $(filter-out $(SPREAD),$(shell tools/goroutines.sh))
race: ## go test -race -short of packages with goroutines
	@POISE_GOLDEN_LOG= tools/race.sh $(filter $(RACED),$(ALL))
	@POISE_GOLDEN_LOG= tools/race.sh -run 'StopIsTaken|SevereStopWins|ConcurrentUse|TorqueOfTheRobot' poise/loop poise/planner/smooth poise/identify

fuzz: ## every fuzz target for FUZZTIME
	@POISE_GOLDEN_LOG= tools/fuzz.sh $(FUZZTIME)

# programs run, requests are planned, scenarios are played; what drives a server is
# run by cmd/poise TestExamplesThatDriveAServer
examples: build ## what examples/ shows, run
	@for d in examples/01-load examples/02-controller; do echo "example: $$d"; $(GO) run ./$$d > /dev/null || exit 1; done
	@for f in examples/plan/*.json examples/plan/*.yaml; do echo "example: $$f"; ./bin/poise plan arm6 $$f > /dev/null; \
	case $$f:$$? in *out_of_reach*:1) ;; *out_of_reach*:*) exit 1 ;; *:0) ;; *) exit 1 ;; esac; done
	@for f in examples/arbitrate/*.yaml; do echo "example: $$f"; ./bin/poise arbitrate $$f > /dev/null || exit 1; done

# the page, built into studio/dist, which is committed
studio: studio/node_modules/.installed ## build the page into studio/dist
	@cd studio && npm run --silent build

studio/node_modules/.installed: studio/package-lock.json
	@cd studio && npm ci --silent --no-audit --no-fund
	@touch $@

studio-check: studio ## the page is type-checked and built; studio/dist is what its sources give
	@if [ -n "$$(git status --porcelain -- studio/dist)" ]; then git status --short -- studio/dist; echo "studio/dist differs from what its sources give: commit what make studio built"; exit 1; fi

# a real browser on the real binary
smoke: build studio/node_modules/.installed ## one file of browser tests
	@POISE=$(CURDIR)/bin/poise tools/browser.sh test/smoke.test.mjs

browser: build studio/node_modules/.installed ## all browser tests
	@POISE=$(CURDIR)/bin/poise tools/browser.sh

golden: ## how many comparisons with reference results were made
	@tools/golden.sh $(GOLDEN_LOG)

# what takes long: random runs by the hundred million, lateness over minutes
soak: ## random runs by the hundred million, lateness over minutes: hours
	POISE_SOAK=1 $(GO) test -count=1 -timeout 12h -v -run 'Soak|Random|Explor|Property|OfAWalker|InPhysics|RecoverySteps|NoStepMakesItFall|InterruptedCatches|PushedWhileItWalks|NoWorseThanPassive' ./...

bench: ## benchmarks, medians of five; the ROS 1 wire beside rospy and roscpp, RTPS beside Cyclone DDS and Fast DDS
	@mkdir -p $(TOOLS)
	$(GO) test -run '^$$' -bench . -benchmem -count=5 -p 1 ./... > $(TOOLS)/bench.txt
	@$(GO) run ./tools/median < $(TOOLS)/bench.txt
	@$(MAKE) --no-print-directory bench-ros1
	@$(MAKE) --no-print-directory bench-ros2

bench-ros1: build ## the ROS 1 wire beside rospy and roscpp, turn by turn
	tools/peers/ros1/bench.sh bin/poise

bench-ros2: setup ## RTPS beside Cyclone DDS and Fast DDS, turn by turn
	tools/peers/ros2/bench.sh

bench-attacks: build ## cycles missed and memory under attacks, beside two burners: 10 min
	$(GO) run ./tools/attack -poise bin/poise -rounds 5 -seconds 8

bench-studio: build studio/node_modules/.installed ## first view of the page; server and page while nothing happens
	@cd studio && POISE=$(CURDIR)/bin/poise node figures.mjs

bench-peers: setup ## Poise beside Pinocchio, KDL, Ruckig and eiquadprog, in one run
	tools/peers/run.sh
	tools/peers/ruckig.sh
	tools/peers/eiquadprog.sh

oracle: build setup ## dynamics and physics beside Pinocchio and MuJoCo, strict priorities beside quadprog
	$(POISE_PYTHON) -m pip install -q -r tools/oracle/requirements-dynamics.txt
	$(POISE_PYTHON) tools/oracle/dynamics.py --poise bin/poise
	$(POISE_PYTHON) tools/oracle/contact.py --poise bin/poise
	$(POISE_PYTHON) tools/oracle/wholebody.py --poise bin/poise
	POISE_ORACLE_PROBLEMS=$(TOOLS)/priorities.bin $(GO) test -count=1 -run WriteProblemsForTheOracle ./wholebody
	$(POISE_PYTHON) tools/oracle/priorities.py $(TOOLS)/priorities.bin
	$(POISE_PYTHON) tools/oracle/physics.py bin/poise ../shared/robots
	POISE_JUDGE=long $(GO) test -count=1 -timeout 4h -v ./internal/mujoco

judge: build setup ## the short part of dynamics beside Pinocchio and MuJoCo, and the cycle closed through it
	$(POISE_PYTHON) -m pip install -q -r tools/oracle/requirements-dynamics.txt
	$(POISE_PYTHON) tools/oracle/contact.py --poise bin/poise --states 5
	$(POISE_PYTHON) tools/oracle/wholebody.py --poise bin/poise --states 5
	$(POISE_PYTHON) tools/oracle/physics.py bin/poise ../shared/robots --short
	POISE_JUDGE=1 $(GO) test -count=1 -timeout 30m ./internal/mujoco

# what these need before them; tools/steps.sh empties it where they run side by side
READY := build setup

ros2: $(READY) $(TOOLS)/ros2/fastdds ## both sides of ROS 2 on Cyclone DDS and Fast DDS, in network namespaces
	POISE_ROS2=1 POISE_ROS2_FASTDDS=$(abspath $(TOOLS))/ros2/fastdds $(GO) test -count=1 -timeout 30m -parallel 6 -run 'TestROS2|TestTwoMachines|OnCyclone|OnFastDDS' ./cmd/poise ./rtps ./wire/ros2

# built once for all checkouts of this account, as Go's packages are: a fresh one compiles the peer alone
CACHE = $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/poise
ros2-rust: $(READY) ## both sides of ROS 2 by ros2-client over RustDDS, MoveIt's messages among it; its first build takes a minute or two
	@command -v cargo > /dev/null || { echo "ros2-rust: cargo is missing, 1.85 or newer (Debian's is older: https://rustup.rs)"; exit 1; }
	cargo build --quiet --locked --manifest-path tools/peers/ros2/rust/Cargo.toml --target-dir $(CACHE)/ros2-rust
	@mkdir -p $(TOOLS)/ros2 && cp $(CACHE)/ros2-rust/debug/ros2-client-peer $(TOOLS)/ros2/
	POISE_ROS2_RUST=$(abspath $(TOOLS))/ros2/ros2-client-peer $(GO) test -count=1 -timeout 30m -parallel 6 -run 'TestROS2ByRust|OnRust' ./cmd/poise ./wire/ros2

FASTDDS := $(addprefix tools/peers/ros2/,fastdds.cpp fastdds_matrix.cpp fastdds.hpp)
$(TOOLS)/ros2/fastdds: $(FASTDDS)
	@mkdir -p $(@D)
	g++ -std=c++17 -o $@ $(filter %.cpp,$^) -lfastrtps -lfastcdr -pthread

ros1: $(READY) ## Debian's tools of ROS 1, clients in C++ and JavaScript and RViz, on the built program
	POISE_ROS1=1 $(GO) test -count=1 -timeout 30m -parallel 6 -run 'TestROS1ByOtherLibraries|TestROS1Tools|TestRVizShowsTheRobot|TestARobotOfRospyIsDriven' ./cmd/poise

arm: ## the guide from the box to the first motion, on emulated servos
	POISE_ARM=1 $(GO) test -count=1 -timeout 30m -run TestFromTheBoxToTheFirstMotion ./cmd/poise

passes: ## make test ten times in a row, both cores kept busy by other work: hours
	tools/passes.sh

mutate: ## seeded mistakes in the code, which the tests must find
	$(GO) run ./tools/mutate

images: setup ## pictures of docs/images, drawn by a browser
	cd tools/render && npm ci && npm run images
	@$(MAKE) --no-print-directory build studio/node_modules/.installed
	cd studio && POISE=$(CURDIR)/bin/poise node pictures.mjs ../docs/images
	$(GO) run ./tools/orders docs/images/orders.svg

clean: ## remove what was built and installed
	rm -rf bin $(TOOLS)
