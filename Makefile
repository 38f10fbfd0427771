# The commands a newcomer needs.  Each installs what is missing, configures and builds first; the
# build itself is CMakeLists.txt with the presets of CMakePresets.json.
PRESET = release
PREFIX = /usr/local
BUILD = build/$(PRESET)
MODEL = models/bruels-cardona-2010/heavy_top.json
RESULT = build/heavy_top
# of the random mechanisms of fuzz-models
SEEDS = 1-5000
# what only the tests need
TEST_PACKAGES = chromium doxygen graphviz groff-base libassimp-dev libopenmpi-dev openmpi-bin python3 python3-dev \
  python3-matplotlib python3-numpy valgrind
# what the Python package needs
PYTHON_PACKAGES = python3 python3-dev python3-numpy
# what only fuzzing needs
FUZZ_PACKAGES = clang libclang-rt-14-dev
TIME = 600
TARGET =
# the programs that benchmarks compare with
PEER_PACKAGES = libbullet-dev libdart-dev libmujoco-dev libode-dev libsimbody-dev libsundials-dev python3
# what only the site of the docs needs
SITE_PACKAGES = doxygen libjs-katex mkdocs mkdocs-material python3

help:
	@echo "polhode: simulation of constrained multibody systems"
	@echo ""
	@echo "  make demo              simulate a spinning top and print what it did"
	@echo "  make test              run all tests"
	@echo ""
	@echo "  make build             build only, into $(BUILD)"
	@echo "  make install           install into PREFIX=$(PREFIX)"
	@echo "  make python            build the Python package, into $(BUILD)/python"
	@echo "  make wheel             build a wheel of it, into dist"
	@echo "  make bench             measure the speed"
	@echo "  make bench-peers       measure against SUNDIALS, Simbody, MuJoCo, ODE, Bullet and DART:"
	@echo "                         docs/performance.md, docs/benchmarks.md"
	@echo "  make instructions      renew the instruction counts that tests guard: tests/bench"
	@echo "  make table             measure every method on the heavy top: docs/heavy-top-table.md"
	@echo "  make robustness        run extreme models with each family of methods: docs/robustness.md"
	@echo "  make figures           measure fixed against variable steps: docs/work-precision.md"
	@echo "  make sweep             run closed loops at tolerances from 1e-2 to 1e-8: docs/adaptive-sweep.md"
	@echo "  make reference         write the schema and the tables of keys: schema, docs/model-format.md"
	@echo "  make gallery           draw the pictures of the docs anew: docs/images"
	@echo "  make site              build the docs as a site: build/site"
	@echo "  make reproduce         repeat all published results: docs/reproduce-verdicts.md"
	@echo "  make debug-test        run all tests with the sanitizers"
	@echo "  make fuzz-models       compare all methods on random mechanisms, SEEDS=1-5000"
	@echo "  make fuzz TIME=600     fuzz the readers and the commands, TIME seconds per target;"
	@echo "                         TARGET=model: one of the targets in fuzz/ only"
	@echo "  make coverage          run all tests and report which lines they reach, room by room"
	@echo "  make mutants           mutate the sources and count which mutants the tests detect"
	@echo "  make format            format the sources"
	@echo "  make format-check      say which sources are not formatted"
	@echo "  make clean             remove everything that was built"

build:
	@scripts/setup.sh
	@scripts/build.sh $(PRESET)

demo: build
	@echo "==> simulating the heavy top ($(MODEL))"
	@$(BUILD)/polhode run $(MODEL) --out $(RESULT).h5
	@$(BUILD)/polhode plot $(RESULT).h5 top.position energy.kinetic --out $(RESULT).svg --quiet
	@$(BUILD)/polhode view $(RESULT).h5 --out $(RESULT).html --quiet
	@echo "==> the motion is in $(RESULT).h5"
	@echo "==> a plot of it is $(RESULT).svg"
	@echo "==> to see it move, open $(RESULT).html in a browser"

test:
	@scripts/setup.sh $(TEST_PACKAGES)
	@scripts/build.sh $(PRESET)
	@scripts/test.sh $(PRESET)

python:
	@scripts/setup.sh $(PYTHON_PACKAGES)
	@scripts/build.sh $(PRESET) polhode_python
	@echo "==> PYTHONPATH=$(BUILD)/python python3 -c 'import polhode'"

wheel:
	@scripts/setup.sh $(PYTHON_PACKAGES)
	@python3 python/backend.py dist

debug-test:
	@$(MAKE) --no-print-directory test PRESET=debug

fuzz-models: build
	@OPENBLAS_NUM_THREADS=1 $(BUILD)/tests/differential/fuzz_models $(SEEDS)

fuzz:
	@scripts/setup.sh $(FUZZ_PACKAGES)
	@scripts/build.sh fuzz fuzzers
	@scripts/fuzz.sh $(TIME) $(TARGET)

coverage:
	@scripts/setup.sh gcovr $(TEST_PACKAGES)
	@scripts/build.sh coverage
	@find build/coverage -name '*.gcda' -delete
	@scripts/test.sh coverage
	@scripts/build.sh coverage coverage
	@echo "==> the report is in build/coverage/report/index.html"

# COUNT mutants, chosen by SEED; build/mutants keeps the results
COUNT = 60
SEED = 1
mutants:
	@scripts/setup.sh lld $(TEST_PACKAGES)
	@scripts/mutants.py --count $(COUNT) --seed $(SEED)

table: build
	@$(BUILD)/studies/heavy_top_table >docs/heavy-top-table.md
	@echo "==> docs/heavy-top-table.md"

robustness: build
	@$(BUILD)/studies/robustness >docs/robustness.md
	@echo "==> docs/robustness.md"

figures: build
	@$(BUILD)/studies/work_precision docs/images >docs/work-precision.md
	@echo "==> docs/work-precision.md, docs/images"

reference: build
	@scripts/reference.py $(BUILD)/polhode

sweep: build
	@scripts/adaptive_sweep.py $(BUILD)/polhode --out docs/adaptive-sweep.md
	@echo "==> docs/adaptive-sweep.md"

reproduce: build
	@$(BUILD)/polhode reproduce all --out build/reproduced
	@cp build/reproduced/verdicts.md docs/reproduce-verdicts.md
	@echo "==> build/reproduced/index.html and docs/reproduce-verdicts.md"

gallery:
	@scripts/setup.sh $(TEST_PACKAGES)
	@scripts/build.sh $(PRESET)
	@scripts/gallery.py $(BUILD)/polhode

site:
	@scripts/setup.sh $(SITE_PACKAGES)
	@scripts/build.sh $(PRESET) polhode
	@scripts/site.sh $(BUILD)/polhode

bench: build
	@for program in $(BUILD)/bench/*; do "$$program" || exit 1; done

# PEERS: which of the programs are run anew; the pages keep what the others measured
PEERS = top_precision mechanisms sizes examples
bench-peers:
	@scripts/setup.sh $(PEER_PACKAGES) || for package in $(PEER_PACKAGES); do \
	  scripts/setup.sh $$package || echo "==> $$package cannot be installed and is left out"; done
	@scripts/build.sh peers
	@for program in $(PEERS); do \
	  case $$program in \
	  examples) more= ;; \
	  sizes) more="--budget 20 --svg docs/images/bench_sizes.svg" ;; \
	  *) more="--svg docs/images/bench_$$program.svg" ;; \
	  esac; \
	  build/peers/bench/$$program --csv build/peers/$$program.csv $$more || exit 1; done
	@scripts/benchmarks.py build/peers
	@scripts/performance.py build/peers

# the record of the test bench/instructions
instructions:
	@scripts/setup.sh $(TEST_PACKAGES)
	@scripts/build.sh $(PRESET)
	@tests/bench/test_instructions.py $(BUILD)/tests/bench/hot_loops cc --renew

install: build
	@cmake --install $(BUILD) --prefix "$(PREFIX)"

format format-check:
	@scripts/setup.sh clang-format
	@scripts/build.sh $(PRESET) $@

clean:
	@rm -rf build

.PHONY: python wheel help reference build demo test debug-test fuzz-models coverage table figures gallery site reproduce bench bench-peers instructions install format format-check clean fuzz mutants sweep robustness
