// Lease keeps a lease alive by heartbeats: who is not heard of for 10 s loses it.
//
//	lease serve            # prints: granted NAME, expired NAME
//	lease hold NAME HOST   # prints: held, lost
//
// The holder must notice before the server does: it counts from when it sent the heartbeat that
// was answered, and the server from when that one came.
package main

import (
	"bufio"
	"fmt"
	"log"
	"net"
	"os"
	"strings"
	"time"
)

const (
	port   = "7070"
	lease  = 10 * time.Second
	beat   = 2 * time.Second
	giveUp = 3 * time.Second
)

func main() {
	log.SetFlags(0)
	switch {
	case len(os.Args) == 2 && os.Args[1] == "serve":
		log.Fatal(serve())
	case len(os.Args) == 4 && os.Args[1] == "hold":
		hold(os.Args[2], os.Args[3])
	}
	log.Fatal("usage: lease serve | lease hold NAME HOST")
}

func serve() error {
	listener, err := net.Listen("tcp", ":"+port)
	if err != nil {
		return err
	}
	heard := make(chan string)
	go watch(heard)
	fmt.Println("ready")
	for {
		connection, err := listener.Accept()
		if err != nil {
			return err
		}
		go answer(connection, heard)
	}
}

// answer tells of each heartbeat of a connection, and answers it.
func answer(connection net.Conn, heard chan<- string) {
	defer connection.Close()
	lines := bufio.NewScanner(connection)
	for lines.Scan() {
		heard <- lines.Text()
		if _, err := fmt.Fprintln(connection, "ok"); err != nil {
			return
		}
	}
}

// watch grants leases and lets them expire.
func watch(heard <-chan string) {
	timers := map[string]*time.Timer{}
	expired := make(chan string)
	for {
		select {
		case name := <-heard:
			// A timer that has fired already is reset, too: the holder is heard of again.
			if timer, has := timers[name]; has {
				timer.Reset(lease)
				continue
			}
			fmt.Println("granted", name)
			timers[name] = time.AfterFunc(lease, func() { expired <- name })
		case name := <-expired:
			fmt.Println("expired", name)
			delete(timers, name)
		}
	}
}

// hold sends heartbeats for ever, by a new connection when the old one is silent.
func hold(name, host string) {
	var connection net.Conn
	until, held := time.Time{}, false
	for {
		sent := time.Now()
		connection = heartbeat(connection, name, host)
		if connection != nil {
			until = sent.Add(lease)
		}
		if now := time.Now().Before(until); now != held {
			held = now
			fmt.Println(map[bool]string{true: "held", false: "lost"}[held])
		}
		time.Sleep(time.Until(sent.Add(beat)))
	}
}

// heartbeat sends one and awaits the answer; it returns no connection if there is none.
func heartbeat(connection net.Conn, name, host string) net.Conn {
	if connection == nil {
		fresh, err := net.DialTimeout("tcp", net.JoinHostPort(host, port), giveUp)
		if err != nil {
			return nil
		}
		connection = fresh
	}
	connection.SetDeadline(time.Now().Add(giveUp))
	fmt.Fprintln(connection, name)
	line, err := bufio.NewReader(connection).ReadString('\n')
	if err != nil || strings.TrimSpace(line) != "ok" {
		connection.Close()
		return nil
	}
	return connection
}
