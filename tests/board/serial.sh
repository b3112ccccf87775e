#!/bin/sh
# SPDX-License-Identifier: MIT
#
# The example target file of a board on a serial line, with a terminal in place of /dev/ttyUSB0: behind it, getty and login of a
# PC that QEMU emulates ask for a name and a password.

. tests/board/hil.sh
need qemu-system-x86_64 cpio busybox
case $(uname -m) in
x86_64)	;;
*)	skip "the board and its busybox are for x86-64" ;;
esac
for applet in getty login mkpasswd; do
	busybox --list | grep -qx $applet || skip "this busybox has no $applet"
done
sh hil/qemu-image x86_64 "$scratch" > "$scratch/said" 2>&1 || skip "$(tail -n 1 "$scratch/said")"

# a second archive, whose files replace those of the first
add_login()
{
	mkdir -p "$scratch/login/etc" && cat > "$scratch/login/init" <<-'END'
		#!/bin/sh
		/bin/busybox --install -s /bin
		export PATH=/bin
		mount -t proc proc /proc
		mount -t sysfs sysfs /sys
		mount -t devtmpfs dev /dev
		mount -t tmpfs tmp /tmp
		while :; do
			setsid getty -L 115200 ttyS0 linux
		done
	END
	chmod +x "$scratch/login/init"
	echo "root:$(busybox mkpasswd -m sha256 'a secret'):0:0:root:/tmp:/bin/sh" > "$scratch/login/etc/passwd"
	echo "root:x:0:" > "$scratch/login/etc/group"
	(cd "$scratch/login" && find . | cpio --quiet -o -H newc) >> "$scratch/image"
}

# QEMU says which terminal it made
cat > "$scratch/board" <<END
qemu-system-x86_64 -M q35 -accel tcg -cpu max -m 512 -nodefaults -no-user-config -display none -no-reboot -chardev pty,id=line \
	-serial chardev:line -kernel "$scratch/kernel" -initrd "$scratch/image" -append "console=ttyS0 quiet no_timer_check panic=-1" \
	< /dev/null 2>&1 | while read -r line; do
	terminal=\${line#*redirected to }
	ln -sf "\${terminal%% *}" "$scratch/tty"
done
END
suite hello <<'END'
echo "1..2"
[ "$(cat /proc/1/comm)" = init ] && echo "ok 1 - this is the guest" || echo "not ok 1 - this is the guest"
[ "$(id -u)" = 0 ] && echo "ok 2 - logged in" || echo "not ok 2 - logged in"
END

# serial_target PASSWORD SECONDS: the example, with a board
serial_target()
{
	rm -f "$scratch/tty"
	sed "s,^reset = .*,run = \"sh $scratch/board\",; s,/dev/ttyUSB0,$scratch/tty,; s/^password = .*/password = \"$1\"/
		s/^reach = .*/reach = $2/; s,^file = .*,file = \"$scratch/hello\"," hil/serial.toml > "$scratch/target.toml"
}

logs_in()
{
	serial_target 'a secret' 180 && expect 0 --target "$scratch/target.toml" &&
		says '^  ok 1 this is the guest' '^  ok 2 logged in' '^# resets: 0'
}

a_wrong_password()
{
	serial_target wrong 20 && expect 6 --target "$scratch/target.toml" &&
		says '^not ok 1 board # ERROR the board cannot be reached'
}

add_login
it "a suite runs behind a login on a serial line" logs_in
it "a wrong password: exit status 6" a_wrong_password
finish
