"""What all peers share: reading, joining pairs to clusters, writing the answer. Each peer is a small program in a virtual
environment of its own, called as `peer.py CORPUS OUTPUT`. OUTPUT gets a line for each cluster: numbers of documents. What is
printed is the CPU time of each phase."""

import json
import os
import sys
import time


class Phases:
    """CPU seconds of this process and of children that ended, by phase. The first phase is the imports."""

    def __init__(self):
        self.seconds = {}
        self.last = 0.0
        self.end("imports")

    def end(self, name):
        times = os.times()
        now = sum(times[:4])
        self.seconds[name] = round(now - self.last, 3)
        self.last = now


def texts(path):
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def shingles(text):
    """The set of word 5-grams; a shorter text is one."""
    words = text.split(" ")
    if len(words) <= 5:
        return {text}
    return {" ".join(gram) for gram in zip(words, words[1:], words[2:], words[3:], words[4:])}


class Union:
    """Union-find: the smallest number leads."""

    def __init__(self):
        self.parent = {}

    def root(self, node):
        parent = self.parent
        while (above := parent.setdefault(node, node)) != node:
            parent[node] = node = parent.setdefault(above, above)
        return node

    def join(self, a, b):
        a, b = self.root(a), self.root(b)
        if a != b:
            self.parent[max(a, b)] = min(a, b)

    def clusters(self):
        found = {}
        for node in sorted(self.parent):
            found.setdefault(self.root(node), []).append(node)
        return [cluster for cluster in found.values() if len(cluster) > 1]


def write(clusters, phases, output):
    with open(output, "w") as file:
        file.writelines(" ".join(map(str, cluster)) + "\n" for cluster in clusters)
    phases.end("write")
    json.dump(phases.seconds, sys.stdout)
