package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"longfat.example/lease/session"
)

const place = "/mnt/lease"

// start builds the program and a network of three hosts in which it runs.
func start(t *testing.T) *session.Session {
	t.Helper()
	folder := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(folder, "lease"), ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if words, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, words)
	}
	network, err := session.Start("--bind", folder+":"+place, "--memory", "512MB")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { network.Close() })
	must(t, network.Call("network.add", session.Params{"network": map[string]any{
		"hosts":    map[string]string{"server": "10.0.0.1/8", "a": "10.0.0.2/8", "b": "10.0.0.3/8"},
		"switches": []string{"s1"},
		"links": []any{
			[]any{"server", "s1", map[string]string{"delay": "20ms"}},
			[]any{"a", "s1"},
			[]any{"b", "s1"},
		},
	}}, nil))
	return network
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func spawn(t *testing.T, network *session.Session, node string, words ...string) int {
	t.Helper()
	var process struct{ Process int }
	must(t, network.Call("node.spawn", session.Params{
		"node": node, "command": append([]string{place + "/lease"}, words...),
	}, &process))
	return process.Process
}

func sleep(t *testing.T, network *session.Session, time string) {
	t.Helper()
	must(t, network.Call("network.sleep", session.Params{"duration": time}, nil))
}

func lines(t *testing.T, network *session.Session, process int) string {
	t.Helper()
	var text string
	must(t, network.Call("process.stdout", session.Params{"process": process}, &text))
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", ", ")
}

func expect(t *testing.T, what, found, wanted string) {
	t.Helper()
	if found != wanted {
		t.Errorf("%s: found %q, wanted %q", what, found, wanted)
	}
}

func TestAPartitionTakesTheLeaseOfWhoIsCutOff(t *testing.T) {
	network := start(t)
	server := spawn(t, network, "server", "serve")
	must(t, network.Call("process.expect",
		session.Params{"process": server, "text": "ready", "timeout": "5s"}, nil))
	a, b := spawn(t, network, "a", "hold", "A", "server"), spawn(t, network, "b", "hold", "B", "server")
	sleep(t, network, "5s")
	expect(t, "a", lines(t, network, a), "held")

	must(t, network.Call("network.partition",
		session.Params{"groups": [][]string{{"a"}, {"s1", "server", "b"}}}, nil))
	// Nobody has lost it yet. A knows before the server does.
	sleep(t, network, "5s")
	expect(t, "a, cut off for 5 s", lines(t, network, a), "held")
	sleep(t, network, "60s")
	expect(t, "a, cut off for a minute", lines(t, network, a), "held, lost")
	expect(t, "b", lines(t, network, b), "held")
	if found := lines(t, network, server); !strings.HasSuffix(found, "expired A") {
		t.Errorf("the server has not let the lease of A expire: %q", found)
	}

	must(t, network.Call("network.heal", nil, nil))
	sleep(t, network, "10s")
	expect(t, "a, healed", lines(t, network, a), "held, lost, held")
	expect(t, "b, healed", lines(t, network, b), "held")
}

func TestAHolderThatIsPausedHasLostTheLease(t *testing.T) {
	network := start(t)
	server := spawn(t, network, "server", "serve")
	a := spawn(t, network, "a", "hold", "A", "server")
	sleep(t, network, "5s")
	must(t, network.Call("host.pause", session.Params{"host": "a"}, nil))
	sleep(t, network, "30s")
	expect(t, "the server", lines(t, network, server), "ready, granted A, expired A")
	must(t, network.Call("host.resume", session.Params{"host": "a"}, nil))
	sleep(t, network, "5s")
	if found := lines(t, network, a); !strings.HasSuffix(found, "held") {
		t.Errorf("a, resumed: %q", found)
	}
	expect(t, "the server, then", lines(t, network, server), "ready, granted A, expired A, granted A")
}

func TestAMistakeIsToldWithItsPlace(t *testing.T) {
	network := start(t)
	err := network.Call("link.change", session.Params{"link": 1, "loss": "lots"}, nil)
	var told *session.Error
	if !errors.As(err, &told) || told.Data.Where != "params.loss" {
		t.Errorf("found %v", err)
	}
	var done session.Completed
	must(t, network.Call("node.run", session.Params{"node": "a", "command": "exit 7"}, &done))
	if done.ReturnCode != 7 {
		t.Errorf("found %+v", done)
	}
}
