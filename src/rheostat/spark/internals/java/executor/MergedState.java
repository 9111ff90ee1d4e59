package rheostat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/** Merges several partitions of a RocksDB store in the order of their keys. */
public final class MergedState implements Comparator {
    final List parts;
    private final PriorityQueue waiting;
    private OpenedState current;

    MergedState(List parts) {
        this.parts = parts;
        this.waiting = new PriorityQueue(parts.size() + 1, this);
        for (int i = 0; i < parts.size(); i++) {
            push((OpenedState) parts.get(i));
        }
    }

    /** The partition with the next row; null at the end. */
    OpenedState next() {
        if (current != null && waiting.isEmpty()) {
            if (!current.next()) {
                current = null;
            }
            return current;
        }
        if (current != null) {
            push(current);
        }
        current = (OpenedState) waiting.poll();
        return current;
    }

    private void push(OpenedState part) {
        if (part.next()) {
            waiting.add(part);
        }
    }

    public int compare(Object one, Object other) {
        return Arrays.compareUnsigned(((OpenedState) one).key, ((OpenedState) other).key);
    }
}
