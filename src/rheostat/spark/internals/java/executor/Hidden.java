package rheostat;

import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;

/** Access to private members of Spark's objects and of their superclasses. */
public final class Hidden {
    private Hidden() {}

    static Object call(Object of, String name, Object[] arguments) throws Exception {
        Class kind = of.getClass();
        while (kind != null) {
            Method[] methods = kind.getDeclaredMethods();
            for (int i = 0; i < methods.length; i++) {
                Method method = methods[i];
                if (isNamed(method.getName(), name) && method.getParameterTypes().length == arguments.length && !method.isBridge()) {
                    method.setAccessible(true);
                    try {
                        return method.invoke(of, arguments);
                    } catch (InvocationTargetException failed) {
                        if (failed.getCause() instanceof Exception) {
                            throw (Exception) failed.getCause();
                        }
                        throw failed;
                    }
                }
            }
            kind = kind.getSuperclass();
        }
        throw new NoSuchMethodException(of.getClass().getName() + "." + name);
    }

    static Object call(Object of, String name) throws Exception {
        return call(of, name, new Object[0]);
    }

    static void set(Object of, String name, Object value) throws Exception {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        field.set(of, value);
    }

    /** Scala prefixes a private method that another class calls with its class name. */
    private static boolean isNamed(String full, String name) {
        return full.equals(name) || full.endsWith("$$" + name);
    }
}
